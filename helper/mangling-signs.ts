import { escapeText } from "../contract/escape.ts";
import { nearestName } from "../contract/nearest-name.ts";

/**
 * The marks that agents' shells leave on an argument (WV-14): `!` comes as `\!`, and a newline typed as `\n` stays two characters. A
 * misspelt flag is a value. Each sign completes "<key> …" and quotes nothing of the value but a flag's near miss.
 */
export function manglingSigns(argument: string): string[] {
  const signs: string[] = [];
  if (argument.includes("\\!")) {
    signs.push(
      "holds \\! where the shell may have had !: if so, store it again with --file or --stdin",
    );
  }
  if (argument.includes("\\n") && !argument.includes("\n")) {
    signs.push(
      "holds a literal \\n and no newline: if one was meant, store it again with --file or --stdin",
    );
  }
  const flag = flagMeant(argument);
  if (argument.startsWith("--file=")) {
    signs.push("holds the text --file=…: to store a file's bytes, write --file F as two words");
  } else if (flag !== undefined) {
    signs.push(`holds the text "${escapeText(argument)}": did you mean ${flag}?`);
  }
  return signs;
}

/** A flag itself only comes here after `--`: then it is the value. */
function flagMeant(argument: string): string | undefined {
  if (argument === "-") return "--stdin";
  if (argument === "--help" || argument === "-h") return "wfvar set --help";
  const flags = ["--file", "--stdin"];
  if (flags.includes(argument)) return undefined;
  return argument.startsWith("-") ? nearestName(argument, flags) : undefined;
}

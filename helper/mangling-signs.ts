/**
 * The marks that agents' shells leave on an argument (WV-14): `!` comes as `\!`, and a newline typed as `\n` stays two characters. Each sign
 * completes "<key> …" and quotes nothing of the value.
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
  if (argument.startsWith("--file=")) {
    signs.push("holds the text --file=…: to store a file's bytes, write --file F as two words");
  }
  return signs;
}

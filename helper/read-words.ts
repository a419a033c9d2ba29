import { suggest } from "../contract/nearest-name.ts";
import type { Syntax, Words } from "./command.ts";
import { VariablesError } from "./variables-error.ts";

/**
 * Splits a command's arguments into words and flags (WV-14); undefined where help is asked for. Throws `usage`. Messages never quote
 * an argument: a mistyped command line may hold a value anywhere.
 */
export function readWords(
  name: string,
  argv: readonly string[],
  syntax: Syntax,
): Words | undefined {
  const words: string[] = [];
  const flags = new Map<string, string>();
  let flagLike: string | undefined;
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      words.push(...rest);
      break;
    }
    const kind = Object.hasOwn(syntax.flags, word) ? syntax.flags[word] : undefined;
    if (kind !== undefined) {
      const value = kind === "alone" ? "" : rest.shift();
      if (value === undefined) throw usage(`${word} needs a word after it`, name);
      if (flags.has(word)) throw usage(`${word} is given twice`, name);
      flags.set(word, value);
    } else if (!word.startsWith("-") || words.length >= (syntax.literalFrom ?? Infinity)) {
      words.push(word);
      if (/^--?[a-z]/i.test(word)) flagLike ??= word;
    } else if (word === "--help" || word === "-h") return undefined;
    else throw unknownFlag(word, name, syntax);
  }
  if (words.length < syntax.minWords) throw usage("no KEY", name);
  const extra = words.length - syntax.maxWords;
  if (extra > 0) {
    if (flagLike !== undefined) throw unknownFlag(flagLike, name, syntax);
    const many = extra === 1 ? "1 word" : `${String(extra)} words`;
    throw usage(`${many} too many; quote what holds blanks`, name);
  }
  return { words, flags };
}

function unknownFlag(word: string, name: string, { flags }: Syntax): VariablesError {
  const [flag = ""] = word.split("=", 1);
  if (flag !== word && Object.hasOwn(flags, flag)) {
    return usage(
      flags[flag] === "alone"
        ? `${flag} stands alone, without =`
        : `write ${flag} and what belongs to it as two words, without =`,
      name,
    );
  }
  return usage(`unknown flag${suggest(word, [...Object.keys(flags), "--help"])}`, name);
}

/** The error for a command line that makes no sense; says where help is. */
export function usage(problem: string, command?: string): VariablesError {
  const help = command === undefined ? "wfvar --help" : `wfvar ${command} --help`;
  return new VariablesError("usage", `${problem}: see ${help}`);
}

import { parseKey } from "../../contract/key.ts";
import { suggest } from "../../contract/nearest-name.ts";
import { outputKinds } from "../../contract/step-file.ts";
import { DeclarationScanner } from "./declaration-scanner.ts";
import type { DeclaredInput } from "./declared-input.ts";
import { quote } from "./finding.ts";
import { kindProblem } from "./value-kind.ts";

export interface InputsProblem {
  readonly message: string;
  /** In the declaration, in UTF-16 units. */
  readonly index: number;
}

/** Past this, a message that lists them would help nobody. */
const maxInputs = 256;
/** An input's file is `workflow/inputs.<name>`, and a key has at most eight segments. */
const maxNameSegments = 6;
/** Context keys that the run itself writes (G-2), so that no input may take them. */
const reservedNames = /^(?:goal|outcome.*|preferred_label|failure_reason|response|failure)$/;
const reservedPrefixes = /^(?:response|parallel|graph|inputs|human|loop_restart)\./;

/**
 * Reads the `inputs` attribute: `name[?][:kind][=fallback]`, separated by commas, where kind is text (the
 * default), number, bool, json or `choice(a|b)`. A fallback runs to the next comma, blanks around it left
 * out; in single quotes it may hold anything, `''` for a quote. Never throws: every problem is in `problems`,
 * and with any the inputs are not to be used.
 */
export function parseInputs(declaration: string): {
  readonly inputs: readonly DeclaredInput[];
  readonly problems: readonly InputsProblem[];
} {
  const scanner = new DeclarationScanner(declaration);
  const inputs: DeclaredInput[] = [];
  const problems: InputsProblem[] = [];
  const places = new Map<string, number>();
  scanner.skipBlanks();
  while (!scanner.atEnd()) {
    if (inputs.length === maxInputs) {
      const message = `a workflow declares at most ${String(maxInputs)} inputs`;
      return { inputs, problems: [...problems, { message, index: scanner.index }] };
    }
    const index = scanner.index;
    const problem = readEntry(scanner, (input) => {
      if (places.has(input.name)) return `the input ${quote(input.name)} is declared twice`;
      places.set(input.name, index);
      inputs.push(input);
      return undefined;
    });
    if (problem !== undefined) problems.push({ message: problem, index });
    scanner.skipToComma();
    if (scanner.takeWord(",") && scanner.atEnd()) {
      problems.push({ message: "an input is missing after the last comma", index: scanner.index });
    }
  }
  return { inputs, problems: [...problems, ...nestedNames(places)] };
}

const namePart = /[^\s,:=?']*/y;
const kindPart = /[^\s,=(]*/y;
const optionsPart = /\([^()]*\)/y;

/** Reads one entry and hands it to `accept`; says what is wrong with it, by either of the two. */
function readEntry(
  scanner: DeclarationScanner,
  accept: (input: DeclaredInput) => string | undefined,
): string | undefined {
  const name = scanner.take(namePart);
  if (name === "") return "an input has no name; write `name:kind`";
  const problem = nameProblem(name);
  if (problem !== undefined) return `the input ${quote(name)}: ${problem}`;
  const optional = scanner.takeWord("?");
  const kindName = scanner.takeWord(":") ? scanner.take(kindPart) : "text";
  const kind = outputKinds.find((one) => one === kindName);
  if (kind === undefined) {
    return `the input ${quote(name)} has the unknown kind ${quote(kindName)}${suggest(kindName, outputKinds)}; kinds are text, number, bool, json and choice(a|b)`;
  }
  const list = scanner.take(optionsPart);
  if ((list !== "") !== (kind === "choice")) {
    return `the input ${quote(name)}: a choice, and nothing else, lists its options: choice(a|b)`;
  }
  const options =
    kind === "choice"
      ? list
          .slice(1, -1)
          .split("|")
          .map((one) => one.trim())
      : undefined;
  if (options?.includes("") === true) return `the input ${quote(name)} has an empty option`;
  const fallback = scanner.takeWord("=") ? scanner.takeFallback() : undefined;
  if (fallback === null) return `the input ${quote(name)}: its fallback has no closing quote`;
  if (!scanner.atComma()) {
    return `the input ${quote(name)} is not of the form \`name[?][:kind][=fallback]\`; a fallback with commas stands in single quotes`;
  }
  if (optional && fallback !== undefined) {
    return `the input ${quote(name)} is optional and has a fallback; the fallback alone is enough`;
  }
  const wrong = fallback === undefined ? undefined : kindProblem(kind, options, fallback);
  if (wrong !== undefined) return `the fallback of ${quote(name)} ${wrong}`;
  return accept({ name, kind, options, required: !optional && fallback === undefined, fallback });
}

function nameProblem(name: string): string | undefined {
  const key = parseKey(name);
  if ("problem" in key) return key.problem;
  if (key.segments.join(".") !== name) return "input names are lowercase";
  if (key.segments.length > maxNameSegments) {
    return `the name has ${String(key.segments.length)} segments; the limit is ${String(maxNameSegments)}`;
  }
  const file = parseKey(`workflow.inputs.${name}`);
  if ("problem" in file) return file.problem;
  if (reservedNames.test(name) || reservedPrefixes.test(name))
    return "the run keeps this name for itself";
  return undefined;
}

/** `a` beside `a.b`: a template could not tell a field of the one from the other (G-2). */
function nestedNames(places: ReadonlyMap<string, number>): InputsProblem[] {
  return [...places].flatMap(([name, index]) => {
    const outer = outerNames(name).find((prefix) => places.has(prefix));
    if (outer === undefined) return [];
    return [{ message: `the input ${quote(name)} extends another one, ${quote(outer)}`, index }];
  });
}

/** `a` and `a.b` of `a.b.c`. */
function outerNames(name: string): string[] {
  const segments = name.split(".");
  return segments.slice(1).map((_segment, i) => segments.slice(0, i + 1).join("."));
}

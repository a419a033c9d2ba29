import { compareKeys, parseKey } from "../../contract/key.ts";
import { suggest } from "../../contract/nearest-name.ts";
import type { DeclaredInput } from "./declared-input.ts";
import { quote } from "./finding.ts";
import { kindProblem } from "./value-kind.ts";

export type BoundInputs =
  | {
      /**
       * By declared name, in the order of the declaration, each exactly as given or as the fallback is
       * written.
       */
      readonly values: ReadonlyMap<string, string>;
    }
  | {
      /** One sentence each, by name and never by value. */
      readonly problems: readonly string[];
    };

/**
 * Puts the values of `--input name=value` to the declared inputs (G-1): all that is required is there,
 * nothing else is, and each is of its kind (G-2). Names are looked up in any case, as keys are. An optional
 * input that is not given has no entry. Reports every problem at once.
 */
export function bindInputs(
  declared: readonly DeclaredInput[],
  given: ReadonlyMap<string, string>,
): BoundInputs {
  const problems: string[] = [];
  const byName = new Map<string, string>();
  const names = new Set(declared.map((input) => input.name));
  for (const [spelled, value] of given) {
    const name = fold(spelled);
    if (!names.has(name)) problems.push(unknownInput(spelled, names));
    else if (byName.has(name)) problems.push(`the input ${quote(name)} is given twice`);
    else byName.set(name, value);
  }
  const values = new Map<string, string>();
  for (const { name, kind, options, required, fallback } of declared) {
    const value = byName.get(name) ?? fallback;
    if (value === undefined) {
      if (required) problems.push(`the input ${quote(name)} is missing: --input ${name}=VALUE`);
      continue;
    }
    const problem = kindProblem(kind, options, value);
    if (problem === undefined) values.set(name, value);
    else problems.push(`the input ${quote(name)} ${problem}`);
  }
  return problems.length === 0 ? { values } : { problems };
}

function fold(name: string): string {
  const key = parseKey(name);
  return "problem" in key ? name : key.segments.join(".");
}

function unknownInput(name: string, names: ReadonlySet<string>): string {
  const all = [...names].toSorted(compareKeys).map(quote).join(", ");
  const rest = all === "" ? "the workflow declares none" : `the workflow declares ${all}`;
  return `there is no input ${quote(name)}${suggest(name, names)}; ${rest}`;
}

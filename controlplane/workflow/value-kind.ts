import type { OutputKind } from "../../contract/step-file.ts";

/** JSON's own spelling of numbers: no `+1`, `.5`, `0x10`, `1_000`, `NaN`. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Says what a value of this kind must be, where `text` is not one (G-2); undefined where it is. One final LF
 * is ignored and nothing is converted (WV-4). The answer never holds the value.
 */
export function kindProblem(
  kind: OutputKind,
  options: readonly string[] | undefined,
  text: string,
): string | undefined {
  // UTF-8 cannot spell a lone surrogate, so another value than this one would be stored.
  if (!text.isWellFormed()) return "must be text that UTF-8 can spell";
  return checks[kind](text.endsWith("\n") ? text.slice(0, -1) : text, options);
}

type Check = (value: string, options: readonly string[] | undefined) => string | undefined;

const checks: Readonly<Record<OutputKind, Check>> = {
  text: () => undefined,
  number: (value) =>
    jsonNumber.test(value) ? undefined : "must be a number such as 3, -0.5 or 1e6",
  bool: (value) =>
    value === "true" || value === "false" ? undefined : "must be `true` or `false`",
  json: (value) => (isObjectOrArray(value) ? undefined : "must be a JSON object or array"),
  choice: (value, options) => {
    if (options === undefined) {
      return /^[^\r\n]+$/.test(value) ? undefined : "must be one line that is not empty";
    }
    return options.includes(value) ? undefined : `must be one of ${options.join(", ")}`;
  },
};

function isObjectOrArray(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

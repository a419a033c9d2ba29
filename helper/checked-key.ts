import { maxSegments, parseKey } from "../contract/key.ts";
import { defaultRoot } from "../contract/layout.ts";
import type { StepPath } from "../contract/ids.ts";
import { VariablesError } from "./variables-error.ts";

/**
 * The segments of a key in any case. Throws `invalid_key` (WV-2), without what was given, unless that is a key written as a path: a caller
 * who mixed up arguments may have given a value.
 */
export function checkedKey(key: string): readonly string[] {
  const parsed = parseKey(key);
  if ("segments" in parsed) return parsed.segments;
  throw new VariablesError(
    "invalid_key",
    pathProblem(key) ?? `${parsed.problem}; keys look like verdict or findings.high`,
  );
}

/** Undefined where no slash was taken for a dot. */
function pathProblem(text: string): string | undefined {
  if (!text.includes("/")) return undefined;
  const path = text.startsWith(`${defaultRoot}/`) ? text.slice(defaultRoot.length + 1) : text;
  const parsed = parseKey(path.replaceAll("/", "."));
  const meant = "segments" in parsed ? parsed.segments.join(".") : "as in findings.high";
  return `a key joins names by dots, not slashes: ${meant}`;
}

/** Throws `invalid_key` where an own key has too many segments, counted from the root as the pack counts them. */
export function checkDepth(own: readonly string[], step: StepPath): void {
  const depth = step.segments.length + own.length;
  if (depth <= maxSegments) return;
  throw new VariablesError(
    "invalid_key",
    `the key has ${String(depth)} segments with the step's own prefix ${step.text}; the limit is ${String(maxSegments)}`,
    { size: depth, limit: maxSegments },
  );
}

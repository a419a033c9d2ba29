import type { StepPath } from "../contract/ids.ts";
import { workflowFolder } from "../contract/layout.ts";

/** What keys mean seen from a step (WV-13): relative to its own folder, or full, from the root. */

/**
 * The rest of a key that spells the step's full prefix (`judge.verdict` in step `judge` is `["verdict"]`), which always means
 * the own folder; undefined for every other key.
 */
export function withoutOwnPrefix(
  segments: readonly string[],
  step: StepPath,
): readonly string[] | undefined {
  const { length } = step.segments;
  return segments.length > length && step.segments.every((part, i) => part === segments[i])
    ? segments.slice(length)
    : undefined;
}

/** The full key of an own one. */
export function fullKey(own: readonly string[], step: StepPath): string {
  return [step.text, ...own].join(".");
}

/** The own key's relative form; undefined where that would not reach the own folder: `workflow.x`, or `judge.x` in step `judge`. */
export function relativeKey(own: readonly string[], step: StepPath): string | undefined {
  return own[0] === workflowFolder || withoutOwnPrefix(own, step) !== undefined
    ? undefined
    : own.join(".");
}

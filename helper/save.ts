import { workflowFolder } from "../contract/layout.ts";
import { checkDepth, checkedKey } from "./checked-key.ts";
import { EntryBudget } from "./entry-budget.ts";
import { fullKey, withoutOwnPrefix } from "./own-prefix.ts";
import { replaceLeaf } from "./replace-leaf.ts";
import { withStep, type Env, type Step } from "./step.ts";
import { checkStepLimits } from "./step-limits.ts";
import { checkSize } from "./value.ts";
import { VariablesError } from "./variables-error.ts";
import { withLeafPlace } from "./leaf-place.ts";

/**
 * Writes a value, which must be valid UTF-8, into the own folder and gives its full key (WV-13). Whatever spelling holds the key is
 * replaced atomically: a reader meets the old bytes or the new ones. Refuses what the pack would reject, and throws VariablesError:
 * `invalid_key`, `value_too_large`, `step_files_exceeded` and its kin, `outside_own_step`, `unsafe_path` where a link or the like is
 * in the way, `disk_full`, and what `withStep` throws.
 */
export function saveValue(env: Env, key: string, value: Uint8Array): string {
  const segments = checkedKey(key);
  return withStep(env, (step) => {
    const own = ownSegments(segments, step);
    const full = fullKey(own, step.path);
    checkSize(value.length, step.limits.max_value_bytes, full);
    withLeafPlace(step, own, (place) => {
      checkStepLimits(step, own, place, value.length);
      replaceLeaf(place, value);
    });
    return full;
  });
}

/** The key from the own folder on. Throws `outside_own_step` where it means another one. */
function ownSegments(segments: readonly string[], step: Step): readonly string[] {
  const inOwn = withoutOwnPrefix(segments, step.path);
  if (inOwn !== undefined) return inOwn;
  const [first = ""] = segments;
  if (first === workflowFolder || isOthersFolder(first, step)) {
    throw new VariablesError(
      "outside_own_step",
      `${first} names a folder outside the step's own, and only the own one is written: if an own key is meant, write ${step.path.text}.<key>`,
      { key: segments.join(".") },
    );
  }
  checkDepth(segments, step.path);
  return segments;
}

/** True where the segment names a folder under the root, in any case, that is not the own one. A loop's folder is not the own one. */
function isOthersFolder(segment: string, { root, path }: Step): boolean {
  return segment !== path.text && root.list(EntryBudget.ofRoot()).folders.has(segment);
}

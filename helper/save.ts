import { checkedKey } from "./checked-key.ts";
import { withLeafPlace } from "./leaf-place.ts";
import { fullKey } from "./own-prefix.ts";
import { ownSegments } from "./own-segments.ts";
import { replaceLeaf } from "./replace-leaf.ts";
import { withStep, type Env, type Step } from "./step.ts";
import { checkStepLimits } from "./step-limits.ts";
import { checkSize } from "./value.ts";

export interface Saved {
  /** `judge.findings.high` */
  readonly full: string;
  /** From the own folder on: `["findings", "high"]`. */
  readonly own: readonly string[];
}

/**
 * Writes a value, which must be valid UTF-8, into the own folder and gives its key (WV-13). Whatever spelling
 * holds the key is replaced atomically: a reader meets the old bytes or the new ones. Refuses what the pack
 * would reject, and throws VariablesError: `invalid_key`, `value_too_large`, `step_files_exceeded` and its
 * kin, `outside_own_step`, `unsafe_path` where a link or the like is in the way, `disk_full`, and what
 * `withStep` throws.
 */
export function saveValue(env: Env, key: string, value: Uint8Array): Saved {
  const segments = checkedKey(key);
  const write = (step: Step): Saved => {
    const own = ownSegments(segments, step);
    const full = fullKey(own, step.path);
    checkSize(value.length, step.limits.max_value_bytes, full);
    withLeafPlace(step, own, (place) => {
      checkStepLimits(step, own, place, value.length);
      replaceLeaf(place, value);
    });
    return { full, own };
  };
  return withStep(env, write, segments.join("."));
}

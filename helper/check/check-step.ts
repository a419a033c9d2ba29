import { compareKeys } from "../../contract/key.ts";
import type { DeclaredOutput } from "../../contract/step-file.ts";
import { declaredOutputs } from "../declared-outputs.ts";
import type { Step } from "../step.ts";
import { listIssues, type ListedIssue, type RejectedIssue, type SkippedIssue } from "./issue.ts";
import { findStrays } from "./strays.ts";
import { survey } from "./survey.ts";

/** What would come of the step if it ended now; as `wfvar check --json` prints it. */
export interface CheckReport {
  /** Step path: `review-loop_2.judge`. */
  readonly step: string;
  /** Nothing is rejected, and no required output is missing. */
  readonly ok: boolean;
  /** Full keys, sorted; sizes in bytes. */
  readonly accepted: readonly { readonly key: string; readonly size: number }[];
  readonly rejected: readonly ListedIssue<RejectedIssue>[];
  readonly skipped: readonly ListedIssue<SkippedIssue>[];
  /** As declared, keys relative to the step. */
  readonly outputs: readonly CheckedOutput[];
}

export interface CheckedOutput extends DeclaredOutput {
  /** A value is accepted under its key. Its kind is not checked. */
  readonly present: boolean;
}

/**
 * A dry run of the pack (WV-10, WV-11, WV-14): the same rules over the same folder, changing nothing, under the
 * limits of `.step`. Every value is read. Throws what a walk of the own folder throws.
 */
export function checkStep(step: Step): CheckReport {
  const { accepted, rejected, skipped } = survey(step);
  const keys = new Set(accepted.map(({ key }) => key));
  const outputs = declaredOutputs(step.untrustedStepFile).map((output) => ({
    ...output,
    present: keys.has(`${step.path.text}.${output.key}`),
  }));
  const sorted = [...accepted];
  sorted.sort((a, b) => compareKeys(a.key, b.key));
  return {
    step: step.path.text,
    ok: rejected.length === 0 && outputs.every(({ required, present }) => present || !required),
    accepted: sorted,
    rejected: listIssues(rejected),
    skipped: listIssues([...skipped, ...findStrays(step)]),
    outputs,
  };
}

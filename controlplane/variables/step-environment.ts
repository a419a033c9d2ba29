import { parseStepPath } from "../../contract/ids.ts";
import { defaultRoot, rootVariable, selfVariable } from "../../contract/layout.ts";
import type { Limits } from "../../contract/limits.ts";
import type { StepRecord } from "../store/store.ts";

/** What a step's containers are told; nothing secret. The pod's own root may be another. */
export function stepEnvironment(step: StepRecord, limits: Limits): Record<string, string> {
  const folders = parseStepPath(step.step)?.segments ?? [step.step];
  return {
    [rootVariable]: defaultRoot,
    [selfVariable]: [defaultRoot, ...folders].join("/"),
    WFVAR_RUN: step.run,
    WFVAR_STEP: step.step,
    WFVAR_ATTEMPT: String(step.attempt),
    WFVAR_DEADLINE: step.deadline,
    WFVAR_MAX_VALUE_BYTES: String(limits.max_value_bytes),
    WFVAR_MAX_STEP_BYTES: String(limits.max_step_bytes),
    WFVAR_MAX_STEP_FILES: String(limits.max_step_files),
    WFVAR_MAX_STEP_ENTRIES: String(limits.max_step_entries),
  };
}

import type { RunView, StepView, VariableView } from "../../contract/wire.ts";
import { inputsStep, type RunRecord, type StepRecord, type ValueRecord } from "../store/store.ts";

/** Records as the API shows them. */

export function viewRun({ run, template, createdAt, limits, missingOutput }: RunRecord): RunView {
  return { run, template, created_at: createdAt, limits, missing_output: missingOutput };
}

export function viewStep(step: StepRecord): StepView {
  const { accepted, ended } = step;
  return {
    step: step.step,
    attempt: step.attempt,
    status: ended?.status ?? (step.instance === null ? "stamped" : "running"),
    depends_on: [...step.dependsOn],
    deadline: step.deadline,
    stamped_at: step.stampedAt,
    ended_at: ended?.at ?? null,
    sha256: accepted?.sha256 ?? null,
    cause: ended?.cause ?? null,
  };
}

export function viewValue(value: ValueRecord): VariableView {
  const { key, size, sha256, kind, step, attempt, setAt } = value;
  const set_by = step === inputsStep ? "input" : step;
  return { key, size, sha256, kind, set_by, attempt, set_at: setAt };
}

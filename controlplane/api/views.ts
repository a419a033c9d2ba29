import type { RunView, StepView, VariableView } from "../../contract/wire.ts";
import { inputsStep, type RunRecord, type StepRecord, type ValueRecord } from "../store/store.ts";

/** Records as the API shows them. */

export function viewRun({ run, template, createdAt, limits, missingOutput }: RunRecord): RunView {
  return { run, template, created_at: createdAt, limits, missing_output: missingOutput };
}

export function viewStep(step: StepRecord): StepView {
  const { accepted } = step;
  return {
    step: step.step,
    attempt: step.attempt,
    status: accepted?.receipt.status ?? (step.instance === null ? "stamped" : "running"),
    depends_on: [...step.dependsOn],
    deadline: step.deadline,
    stamped_at: step.stampedAt,
    accepted_at: accepted?.at ?? null,
    sha256: accepted?.sha256 ?? null,
    cause: accepted?.receipt.cause ?? null,
  };
}

/** The kind is the one that the step's stamp declares for the key; `text` where it declares none. */
export function viewValue(value: ValueRecord, steps: readonly StepRecord[]): VariableView {
  const { key, size, sha256, step, attempt, setAt } = value;
  const stamped = steps.find((other) => other.step === step && other.attempt === attempt);
  const declared = stamped?.outputs.find((output) => `${step}.${output.key}` === key);
  const set_by = step === inputsStep ? "input" : step;
  return { key, size, sha256, kind: declared?.kind ?? "text", set_by, attempt, set_at: setAt };
}

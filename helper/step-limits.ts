import { EntryBudget, entriesExceeded } from "./entry-budget.ts";
import { fileSize } from "./file-size.ts";
import type { LeafPlace } from "./leaf-place.ts";
import type { Step } from "./step.ts";
import { VariablesError } from "./variables-error.ts";
import { walk } from "./walk.ts";

/**
 * Throws `step_entries_exceeded`, `step_files_exceeded` or `step_bytes_exceeded` where `newSize` bytes at that place would put the
 * own folder past a limit of the step (WV-5, WV-13): the pack would then accept nothing at all. Counts as the pack does.
 */
export function checkStepLimits(
  { own, limits }: Step,
  segments: readonly string[],
  { existing, missing }: LeafPlace,
  newSize: number,
): void {
  const key = segments.join(".");
  const budget = EntryBudget.ofStep(limits);
  let files = 1 - existing.length;
  let bytes = newSize;
  for (const { path, verdict } of walk(own, budget)) {
    files += verdict.files;
    for (const [segment, entry] of verdict.leaves) {
      if ([...path, segment].join(".") === key) continue;
      const size = fileSize(entry) ?? 0;
      if (size <= limits.max_value_bytes) bytes += size;
    }
  }
  const entries = budget.spent + missing.length + 1 - existing.length;
  if (entries > limits.max_step_entries) throw entriesExceeded(limits.max_step_entries);
  if (files > limits.max_step_files)
    throw pastLimit("step_files_exceeded", "files", files, limits.max_step_files);
  if (bytes > limits.max_step_bytes)
    throw pastLimit("step_bytes_exceeded", "bytes", bytes, limits.max_step_bytes);
}

function pastLimit(
  code: "step_files_exceeded" | "step_bytes_exceeded",
  unit: "files" | "bytes",
  size: number,
  limit: number,
): VariablesError {
  return new VariablesError(
    code,
    `the step would have ${String(size)} ${unit} in all; the limit is ${String(limit)}, and past it no value is accepted: remove some first`,
    { size, limit },
  );
}

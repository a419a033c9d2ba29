import { maxPrefillEntries, type Limits } from "../contract/limits.ts";
import { VariablesError } from "./variables-error.ts";

/** Counts directory entries and stops a walk at its limit: a hostile or broken folder must not hang the helper (WV-5, WV-13). */
export class EntryBudget {
  readonly #limit: number;
  readonly #exceeded: (limit: number) => VariablesError;
  #spent = 0;

  private constructor(limit: number, exceeded: (limit: number) => VariablesError) {
    this.#limit = limit;
    this.#exceeded = exceeded;
  }

  /** For the own folder: past it the pack takes nothing at all. */
  static ofStep(limits: Limits): EntryBudget {
    return new EntryBudget(limits.max_step_entries, entriesExceeded);
  }

  /** For everything under the root: a prefill brings no more. */
  static ofRoot(): EntryBudget {
    return new EntryBudget(maxPrefillEntries, tooManyAtRoot);
  }

  get spent(): number {
    return this.#spent;
  }

  /** Throws at the first entry past the limit. */
  spend(): void {
    this.#spent += 1;
    if (this.#spent > this.#limit) throw this.#exceeded(this.#limit);
  }
}

/** `step_entries_exceeded`, also of a save that would go past the limit. */
export function entriesExceeded(limit: number): VariablesError {
  return new VariablesError(
    "step_entries_exceeded",
    `the step's own folder has more entries than its limit of ${String(limit)}, and past it no value is accepted: remove some`,
    { limit },
  );
}

function tooManyAtRoot(limit: number): VariablesError {
  return new VariablesError(
    "unsafe_path",
    `more than ${String(limit)} entries beside the step's own folder, where only inputs belong: remove what was put there`,
    { limit },
  );
}

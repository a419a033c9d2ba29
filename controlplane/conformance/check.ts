import type { Subject } from "./subject.ts";

/** A clause of the contract (`WV-12`), or a section of the API page where no clause has the rule. */
export type Clause =
  | `WV-${number}`
  | `API-${"prefill" | "pack" | "tar" | "tokens" | "instances" | "problems"}`;

/** One line of the suite. `run` throws Mismatch where the clause does not hold, Skipped where it cannot be tried. */
export interface Check {
  readonly clause: Clause;
  /** What the implementation does, if it conforms. */
  readonly title: string;
  readonly run: (subject: Subject) => Promise<void>;
}

/** The implementation did something else. */
export class Mismatch extends Error {
  override readonly name = "Mismatch";

  constructor(expected: string, seen: string) {
    super(`expected ${expected}; seen ${seen}`);
  }
}

/** The check cannot be made here; the message says why. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}

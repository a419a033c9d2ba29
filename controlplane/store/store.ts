import type { CauseCode, WarningCode } from "../../contract/codes.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Limits } from "../../contract/limits.ts";
import type { DeclaredOutput, OutputKind } from "../../contract/step-file.ts";

/** What every store keeps (API page, Store). Times are RFC 3339; digests are 64 lowercase hex digits. */

/** The step that the run's frozen inputs stand under; no step can have this name. */
export const inputsStep = "workflow";

export type MissingOutputPolicy = "warn" | "fail";

export interface NewRun {
  readonly run: string;
  readonly template: string;
  /** Of the request that made it: the same run asked for again is the same request. */
  readonly requestSha256: string;
  readonly limits: Limits;
  readonly missingOutput: MissingOutputPolicy;
  readonly createdAt: string;
  /** The frozen inputs: full keys under `workflow.` (WV-8). */
  readonly inputs: readonly NewValue[];
}

export type RunRecord = Omit<NewRun, "inputs">;

export interface NewValue {
  readonly key: string;
  readonly bytes: Buffer;
  readonly sha256: string;
  /** As the step's stamp declares it; `text` where it declares none. */
  readonly kind: OutputKind;
}

export interface NewStep {
  readonly run: string;
  readonly step: string;
  /** Undefined: the next one. */
  readonly attempt: number | undefined;
  readonly requestSha256: string;
  readonly dependsOn: readonly string[];
  readonly outputs: readonly DeclaredOutput[];
  readonly deadline: string;
  /** Past it, a step that has not delivered is ended as undelivered. */
  readonly leaseEndsAt: string;
  readonly stampedAt: string;
}

export interface Cause {
  readonly code: CauseCode;
  readonly message: string;
}

/** What became of a step. */
export interface Ending {
  readonly status: "succeeded" | "failed";
  readonly cause: Cause | null;
}

export interface Receipt extends Ending {
  readonly accepted: number;
  readonly warnings: readonly { readonly code: WarningCode; readonly key: string }[];
}

export interface StepRecord extends Omit<NewStep, "attempt"> {
  readonly attempt: number;
  /** The step's place in its run's order of stamping; not without gaps. */
  readonly seq: number;
  /** The pod that claimed the attempt. */
  readonly instance: string | null;
  readonly ended: (Ending & { readonly at: string }) | null;
  /** Of the pack that ended it; null too where none came. */
  readonly accepted: { readonly sha256: string; readonly receipt: Receipt } | null;
}

/** What happened in a run, in order. */
export interface EventRecord {
  /** From 1, rising, without gaps. */
  readonly seq: number;
  readonly at: string;
  readonly type: EventType;
  readonly data: JsonObject;
}

export const eventTypes = ["run_created", "step_stamped", "step_claimed", "step_ended"] as const;
export type EventType = (typeof eventTypes)[number];

export interface ValueRecord {
  readonly key: string;
  readonly size: number;
  readonly sha256: string;
  readonly kind: OutputKind;
  /** A step path, or `inputsStep`. */
  readonly step: string;
  /** 0 for the run's inputs. */
  readonly attempt: number;
  readonly setAt: string;
}

export interface AcceptedPack {
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
  readonly instance: string;
  readonly sha256: string;
  readonly acceptedAt: string;
  /** `pack.json` as it was sent. */
  readonly manifest: string;
  readonly values: readonly NewValue[];
  readonly receipt: Receipt;
}

export type OverdueStep = Pick<StepRecord, "run" | "step" | "attempt">;

export type Stamping =
  | { readonly result: "created" | "same" | "different"; readonly step: StepRecord }
  | { readonly result: "no_run" }
  /** A newer attempt is there: this one could never be used. */
  | { readonly result: "superseded"; readonly newest: number }
  /** The step has had as many attempts as there may be. */
  | { readonly result: "exhausted" };

/** `ended`: the control plane gave it up, and what comes now comes too late. */
export type Claim = "claimed" | "stale_instance" | "stale_attempt" | "ended";

export type Acceptance =
  | { readonly result: "accepted" }
  | {
      readonly result: "same" | "already_packed";
      readonly sha256: string;
      readonly receipt: Receipt;
    }
  | { readonly result: Exclude<Claim, "claimed"> };

export interface Page<C> {
  readonly limit: number;
  /** Of the last one of the page before; undefined: from the start. */
  readonly after: C | undefined;
}

export interface Store {
  /** Makes the run with its inputs, in one transaction. */
  createRun(run: NewRun): Promise<"created" | "same" | "different">;
  getRun(run: string): Promise<RunRecord | undefined>;
  /** Newest first, after the run that `after` names; undefined where there is no such run. */
  listRuns(page: Page<string>): Promise<RunRecord[] | undefined>;
  /** Makes a step attempt; asked again for the same, gives the one there is. */
  stampStep(step: NewStep): Promise<Stamping>;
  getStep(run: string, step: string, attempt: number): Promise<StepRecord | undefined>;
  /** Attempts in the order of stamping, after one's `seq`. */
  listSteps(run: string, page: Page<number>): Promise<StepRecord[]>;
  /** The first instance to call has the attempt; only the newest attempt can be claimed (WV-12). */
  claimStep(
    run: string,
    step: string,
    attempt: number,
    instance: string,
    at: string,
  ): Promise<Claim>;
  /** Stores all of a pack or nothing, once. Durable when it resolves. */
  acceptPack(pack: AcceptedPack): Promise<Acceptance>;
  /** Ends as failed what is open and past its lease; at most so many at a time. Gives those that it ended. */
  endOverdue(now: string, cause: Cause, limit: number): Promise<OverdueStep[]>;
  /** How many steps are stamped or running. */
  countOpenSteps(): Promise<number>;
  /** The paths of all steps stamped in any iteration of a loop. */
  listStepPaths(run: string, loop: string): Promise<string[]>;
  /**
   * What is visible of the named steps, the accepted values of each one's newest accepted attempt (WV-9), and the
   * run's inputs under `inputsStep`. Sorted by key.
   */
  listValues(run: string, steps: readonly string[]): Promise<ValueRecord[]>;
  /** The same of every step, by key, those that start with the prefix. */
  listKeys(run: string, page: Page<string> & { readonly prefix: string }): Promise<ValueRecord[]>;
  getContent(sha256: string): Promise<Buffer | undefined>;
  /** After the event with that `seq`; 0 for all. */
  listEvents(
    run: string,
    page: { readonly limit: number; readonly after: number },
  ): Promise<EventRecord[]>;
  /**
   * Removes whole runs in which nothing has happened since, and no step is open, with every value that no other run
   * has. At most so many; gives how many there were.
   */
  removeRuns(idleSince: string, limit: number): Promise<number>;
  /** Rejects where the store cannot be read. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

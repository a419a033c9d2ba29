import type { CauseCode, WarningCode } from "../../contract/codes.ts";
import type { Limits } from "../../contract/limits.ts";
import type { DeclaredOutput } from "../../contract/step-file.ts";

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
  readonly stampedAt: string;
}

export interface Receipt {
  readonly accepted: number;
  readonly warnings: readonly { readonly code: WarningCode; readonly key: string }[];
  readonly status: "succeeded" | "failed";
  readonly cause: { readonly code: CauseCode; readonly message: string } | null;
}

export interface StepRecord extends Omit<NewStep, "attempt"> {
  readonly attempt: number;
  /** The pod that claimed the attempt. */
  readonly instance: string | null;
  readonly accepted: {
    readonly at: string;
    readonly sha256: string;
    readonly receipt: Receipt;
  } | null;
}

export interface ValueRecord {
  readonly key: string;
  readonly size: number;
  readonly sha256: string;
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

export type Stamping =
  | { readonly result: "created" | "same" | "different"; readonly step: StepRecord }
  /** The step has had as many attempts as there may be. */
  | { readonly result: "exhausted" };

export type Claim = "claimed" | "stale_instance" | "stale_attempt";

export type Acceptance =
  | { readonly result: "accepted" }
  | {
      readonly result: "same" | "already_packed";
      readonly sha256: string;
      readonly receipt: Receipt;
    }
  | { readonly result: "stale_instance" | "stale_attempt" };

export interface Store {
  /** Makes the run with its inputs, in one transaction. */
  createRun(run: NewRun): Promise<"created" | "same" | "different">;
  getRun(run: string): Promise<RunRecord | undefined>;
  /** Newest first; `before` is the last run of the page before. */
  listRuns(page: { limit: number; before: string | undefined }): Promise<RunRecord[]>;
  /** Makes a step attempt; asked again for the same, gives the one there is. */
  stampStep(step: NewStep): Promise<Stamping>;
  getStep(run: string, step: string, attempt: number): Promise<StepRecord | undefined>;
  /** Every attempt of every step, in the order of stamping. */
  listSteps(run: string): Promise<StepRecord[]>;
  /** The first instance to call has the attempt; only the newest attempt can be claimed (WV-12). */
  claimStep(run: string, step: string, attempt: number, instance: string): Promise<Claim>;
  /** Stores all of a pack or nothing, once. Durable when it resolves. */
  acceptPack(pack: AcceptedPack): Promise<Acceptance>;
  /** The paths of all steps stamped in any iteration of a loop. */
  listStepPaths(run: string, loop: string): Promise<string[]>;
  /**
   * What is visible of each step, the accepted values of its newest accepted attempt (WV-9), and the run's
   * inputs under `inputsStep`; of all steps, or of those named. Sorted by key.
   */
  listValues(run: string, steps?: readonly string[]): Promise<ValueRecord[]>;
  getContent(sha256: string): Promise<Buffer | undefined>;
  /** Rejects where the store cannot be read. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

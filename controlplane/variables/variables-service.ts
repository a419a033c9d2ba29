import type { HashedBody } from "../../contract/hashed-body.ts";
import { defaultLimits, maxAttempt, maxPackBytes, type Limits } from "../../contract/limits.ts";
import type { CreateRun, PackReceipt, StampStep } from "../../contract/wire.ts";
import { ApiError } from "../api-error.ts";
import type { StepTokens } from "../step-tokens.ts";
import type { Claim, OverdueStep, Receipt, RunRecord, StepRecord, Store } from "../store/store.ts";
import { buildPrefill } from "./build-prefill.ts";
import { checkOutputs } from "./check-outputs.ts";
import { freezeInputs } from "./frozen-inputs.ts";
import { hashRequest } from "./hash-request.ts";
import { InFlight } from "./in-flight.ts";
import { judgeStep } from "./judge-step.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import { readPack, type PackIdentity, type SentPack } from "./read-pack.ts";
import { makeRunId } from "./run-ids.ts";
import { noRun, RunReader } from "./run-reader.ts";
import { stepEnvironment } from "./step-environment.ts";

/** Steps that one call of `endOverdueSteps` ends. */
const maxOverdue = 1_000;

export interface VariablesDeps {
  readonly store: Store;
  readonly tokens: StepTokens;
  readonly memory: MemoryBudget;
  readonly now: () => Date;
  readonly limits?: Partial<Limits>;
  /** Of a step whose stamp names none. */
  readonly stepDeadlineMs: number;
  /** How long past its deadline a step's token still opens its calls: queueing and the pod's grace. */
  readonly tokenGraceMs: number;
}

export interface Stamped {
  readonly step: StepRecord;
  readonly token: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Variables as a service: what the API, the engine and nothing else call. Every method throws ApiError for a
 * refusal.
 */
export class VariablesService {
  /** What is stored already. */
  readonly runs: RunReader;
  readonly #deps: VariablesDeps;
  /** Two: a sidecar whose connection broke may be back before its first call is noticed to be over. */
  readonly #inFlight = new InFlight(2);

  constructor(deps: VariablesDeps) {
    this.#deps = deps;
    this.runs = new RunReader(deps.store);
  }

  /** Makes a run and freezes its inputs. The same request for the same run again gives the run there is. */
  async createRun(request: CreateRun): Promise<{ run: RunRecord; created: boolean }> {
    const { store, now, limits } = this.#deps;
    const at = now();
    const run = request.run ?? makeRunId(at);
    const runLimits = { ...defaultLimits, ...limits, ...definedOf(request.limits) };
    const record: RunRecord = {
      run,
      template: request.template,
      requestSha256: hashRequest(request),
      limits: runLimits,
      missingOutput: request.missing_output,
      createdAt: at.toISOString(),
    };
    const result = await store.createRun({
      ...record,
      inputs: freezeInputs(run, request, runLimits),
    });
    if (result === "different") {
      throw new ApiError("run_exists", `the run ${run} exists and was asked for differently`);
    }
    return {
      run: result === "created" ? record : await this.runs.getRun(run),
      created: result === "created",
    };
  }

  /**
   * Makes a step attempt and its token. The same request for the same attempt again gives the attempt there
   * is, with a fresh token.
   */
  async stampStep(run: string, request: StampStep): Promise<Stamped & { created: boolean }> {
    const { store, tokens, now, stepDeadlineMs, tokenGraceMs } = this.#deps;
    const { limits } = await this.runs.getRun(run);
    checkOutputs(request);
    const at = now();
    const deadline = request.deadline ?? new Date(at.getTime() + stepDeadlineMs).toISOString();
    const stamping = await store.stampStep({
      run,
      step: request.step,
      attempt: request.attempt,
      requestSha256: hashRequest(request),
      dependsOn: request.depends_on,
      outputs: request.outputs,
      deadline,
      leaseEndsAt: new Date(Date.parse(deadline) + tokenGraceMs).toISOString(),
      stampedAt: at.toISOString(),
    });
    switch (stamping.result) {
      case "no_run":
        throw noRun(run);
      case "exhausted":
        throw new ApiError(
          "invalid_request",
          `${request.step} has had ${String(maxAttempt)} attempts`,
        );
      case "superseded": {
        const newest = `${request.step} has attempt ${String(stamping.newest)} already`;
        throw new ApiError("stale_attempt", `${newest}; an older one could never be used`);
      }
      case "different": {
        const which = `attempt ${String(stamping.step.attempt)} of ${request.step}`;
        throw new ApiError("attempt_exists", `${which} exists and was asked for differently`);
      }
      case "created":
      case "same":
    }
    const { result, step } = stamping;
    const claims = { run, step: step.step, attempt: step.attempt };
    const token = await tokens.sign(claims, new Date(step.leaseEndsAt));
    return { step, token, env: stepEnvironment(step, limits), created: result === "created" };
  }

  /**
   * The prefill of a stamped step; claims the attempt for the pod that asks. `release` gives its memory back, and is
   * to be called when it has been sent.
   */
  async prefill(identity: PackIdentity): Promise<HashedBody & { release: () => void }> {
    const { store, memory, now } = this.#deps;
    return this.#inFlight.run(keyOf(identity), async () => {
      const step = await this.runs.getStep(identity);
      const { run, instance, attempt } = identity;
      const at = now().toISOString();
      const claim = await store.claimStep(run, step.step, attempt, instance, at);
      if (claim !== "claimed") throw tooLate(claim, identity);
      return buildPrefill(store, await this.runs.getRun(run), step, memory);
    });
  }

  /** Reads, checks and stores a pack, exactly once (WV-12). */
  async acceptPack(
    identity: PackIdentity,
    sent: SentPack,
  ): Promise<{ receipt: PackReceipt; created: boolean }> {
    return this.#inFlight.run(keyOf(identity), () => this.#acceptPack(identity, sent));
  }

  /** Ends what did not deliver by the end of its lease; its values are lost. */
  async endOverdueSteps(): Promise<OverdueStep[]> {
    const { store, now } = this.#deps;
    const message = "nothing was delivered by the deadline and the grace after it";
    const cause = { code: "undelivered", message } as const;
    return store.endOverdue(now().toISOString(), cause, maxOverdue);
  }

  async #acceptPack(
    identity: PackIdentity,
    sent: SentPack,
  ): Promise<{ receipt: PackReceipt; created: boolean }> {
    const { store, memory, now } = this.#deps;
    const { run, step, attempt, instance } = identity;
    const { outputs } = await this.runs.getStep(identity);
    const { limits, missingOutput } = await this.runs.getRun(run);
    const release = memory.take(Math.min(sent.size, maxPackBytes(limits)));
    try {
      const pack = await readPack(sent, identity, limits, outputs);
      const receipt = judgeStep(pack.manifest, outputs, missingOutput);
      const acceptance = await store.acceptPack({
        run,
        step,
        attempt,
        instance,
        receipt,
        sha256: pack.sha256,
        acceptedAt: now().toISOString(),
        manifest: JSON.stringify(pack.manifest),
        values: pack.values,
      });
      switch (acceptance.result) {
        case "accepted":
          return { receipt: answer(identity, pack.sha256, receipt), created: true };
        case "same":
          return { receipt: answer(identity, pack.sha256, acceptance.receipt), created: false };
        case "already_packed":
          throw new ApiError(
            "already_packed",
            `attempt ${String(attempt)} of ${step} was accepted with another body`,
            { accepted_sha256: acceptance.sha256 },
          );
        default:
          throw tooLate(acceptance.result, identity);
      }
    } finally {
      release();
    }
  }
}

function keyOf({ run, step, attempt }: PackIdentity): string {
  return `${run} ${step} ${String(attempt)}`;
}

function answer(
  { run, step, attempt }: PackIdentity,
  sha256: string,
  receipt: Receipt,
): PackReceipt {
  return { run, step, attempt, sha256, ...receipt, warnings: [...receipt.warnings] };
}

const reasons = {
  stale_instance: "belongs to another instance",
  stale_attempt: "is not the newest",
  ended: "was given up: it had not delivered by its deadline and the grace after it",
} as const;

function tooLate(claim: Exclude<Claim, "claimed">, { step, attempt }: PackIdentity): ApiError {
  const which = `attempt ${String(attempt)} of ${step}`;
  const code = claim === "ended" ? "stale_attempt" : claim;
  return new ApiError(code, `${which} ${reasons[claim]}`);
}

function definedOf(limits: { readonly [K in keyof Limits]?: number | undefined }): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

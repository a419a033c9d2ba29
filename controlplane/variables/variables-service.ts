import { createHash } from "node:crypto";
import { parseStepPath } from "../../contract/ids.ts";
import type { HashedBody } from "../../contract/hashed-body.ts";
import { isJsonObject } from "../../contract/json.ts";
import { compareKeys, parseKey } from "../../contract/key.ts";
import { defaultRoot, rootVariable, selfVariable } from "../../contract/layout.ts";
import { defaultLimits, maxAttempt, type Limits } from "../../contract/limits.ts";
import type { CreateRun, PackReceipt, StampStep } from "../../contract/wire.ts";
import { ApiError } from "../api-error.ts";
import type { StepTokens } from "../step-tokens.ts";
import {
  type Receipt,
  type RunRecord,
  type StepRecord,
  type Store,
  type ValueRecord,
} from "../store/store.ts";
import { buildPrefill } from "./build-prefill.ts";
import { freezeInputs } from "./frozen-inputs.ts";
import { InFlight } from "./in-flight.ts";
import { judgeStep } from "./judge-step.ts";
import { readPack, type PackIdentity, type SentPack } from "./read-pack.ts";
import { makeRunId } from "./run-ids.ts";

export interface VariablesDeps {
  readonly store: Store;
  readonly tokens: StepTokens;
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
  readonly #deps: VariablesDeps;
  /** Two: a sidecar whose connection broke may be back before its first call is noticed to be over. */
  readonly #inFlight = new InFlight(2);

  constructor(deps: VariablesDeps) {
    this.#deps = deps;
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
      run: result === "created" ? record : await this.getRun(run),
      created: result === "created",
    };
  }

  /**
   * Makes a step attempt and its token. The same request for the same attempt again gives the attempt there
   * is, with a fresh token.
   */
  async stampStep(run: string, request: StampStep): Promise<Stamped & { created: boolean }> {
    const { store, tokens, now, stepDeadlineMs, tokenGraceMs } = this.#deps;
    const { limits } = await this.getRun(run);
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
      stampedAt: at.toISOString(),
    });
    if (stamping.result === "exhausted") {
      throw new ApiError(
        "invalid_request",
        `${request.step} has had ${String(maxAttempt)} attempts`,
      );
    }
    const { result, step } = stamping;
    if (result === "different") {
      const which = `attempt ${String(step.attempt)} of ${step.step}`;
      throw new ApiError("attempt_exists", `${which} exists and was asked for differently`);
    }
    const expiresAt = new Date(Date.parse(step.deadline) + tokenGraceMs);
    const claims = { run, step: step.step, attempt: step.attempt };
    const token = await tokens.sign(claims, expiresAt);
    return { step, token, env: stepEnvironment(step, limits), created: result === "created" };
  }

  /** The prefill of a stamped step; claims the attempt for the pod that asks. */
  async prefill(identity: PackIdentity): Promise<HashedBody> {
    const step = await this.getStep(identity);
    const claim = await this.#deps.store.claimStep(
      identity.run,
      identity.step,
      identity.attempt,
      identity.instance,
    );
    if (claim !== "claimed") throw stale(claim, identity);
    return buildPrefill(this.#deps.store, await this.getRun(identity.run), step);
  }

  /** Reads, checks and stores a pack, exactly once (WV-12). */
  async acceptPack(
    identity: PackIdentity,
    sent: SentPack,
  ): Promise<{ receipt: PackReceipt; created: boolean }> {
    const { run, step, attempt } = identity;
    const key = `${run} ${step} ${String(attempt)}`;
    return this.#inFlight.run(key, () => this.#acceptPack(identity, sent));
  }

  async #acceptPack(
    identity: PackIdentity,
    sent: SentPack,
  ): Promise<{ receipt: PackReceipt; created: boolean }> {
    const { store, now } = this.#deps;
    const { run, step, attempt, instance } = identity;
    const stamped = await this.getStep(identity);
    const { limits, missingOutput } = await this.getRun(run);
    const pack = await readPack(sent, identity, limits);
    const receipt = judgeStep(pack.manifest, stamped.outputs, missingOutput);
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
    if (acceptance.result === "accepted") {
      return { receipt: answer(identity, pack.sha256, receipt), created: true };
    }
    if (acceptance.result === "same") {
      return { receipt: answer(identity, pack.sha256, acceptance.receipt), created: false };
    }
    if (acceptance.result !== "already_packed") throw stale(acceptance.result, identity);
    throw new ApiError(
      "already_packed",
      `attempt ${String(attempt)} of ${step} was accepted with another body`,
      { accepted_sha256: acceptance.sha256 },
    );
  }

  async getRun(run: string): Promise<RunRecord> {
    const record = await this.#deps.store.getRun(run);
    if (record === undefined) throw new ApiError("not_found", `no run ${run}`);
    return record;
  }

  async getStep({ run, step, attempt }: Omit<PackIdentity, "instance">): Promise<StepRecord> {
    const record = await this.#deps.store.getStep(run, step, attempt);
    if (record !== undefined) return record;
    throw new ApiError("not_found", `no attempt ${String(attempt)} of step ${step} in run ${run}`);
  }

  /** Every value that the run holds now, by key; `prefix` in any case. */
  async listValues(run: string, prefix = ""): Promise<ValueRecord[]> {
    await this.getRun(run);
    const values = await this.#deps.store.listValues(run);
    return values.filter(({ key }) => key.startsWith(prefix.toLowerCase()));
  }

  /** One value's exact bytes, by full key in any case. */
  async getValue(run: string, key: string): Promise<{ value: ValueRecord; bytes: Buffer }> {
    const { store } = this.#deps;
    await this.getRun(run);
    const parsed = parseKey(key);
    if ("problem" in parsed) throw new ApiError("invalid_request", parsed.problem);
    const { segments } = parsed;
    // A key's step is its first segment, or its first two inside a loop.
    const steps = [segments.slice(0, 1), segments.slice(0, 2)].map((path) => path.join("."));
    const values = await store.listValues(run, steps);
    const value = values.find((candidate) => candidate.key === segments.join("."));
    const bytes = value === undefined ? undefined : await store.getContent(value.sha256);
    if (value === undefined || bytes === undefined) {
      throw new ApiError("not_found", `no variable ${segments.join(".")} in run ${run}`);
    }
    return { value, bytes };
  }
}

/** What a step's containers are told; nothing secret. The pod's own root may be another. */
function stepEnvironment(step: StepRecord, limits: Limits): Record<string, string> {
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

function answer(
  { run, step, attempt }: PackIdentity,
  sha256: string,
  receipt: Receipt,
): PackReceipt {
  return { run, step, attempt, sha256, ...receipt, warnings: [...receipt.warnings] };
}

function stale(
  code: "stale_instance" | "stale_attempt",
  { step, attempt }: PackIdentity,
): ApiError {
  const which = `attempt ${String(attempt)} of ${step}`;
  return new ApiError(
    code,
    code === "stale_instance"
      ? `${which} belongs to another instance`
      : `${which} is not the newest`,
  );
}

/** Equal requests have equal hashes, in whatever order their members came. */
function hashRequest(request: CreateRun | StampStep): string {
  const canonical = JSON.stringify(request, (_, value: unknown) =>
    isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => compareKeys(a, b)))
      : value,
  );
  return createHash("sha256").update(canonical).digest("hex");
}

function definedOf(limits: { readonly [K in keyof Limits]?: number | undefined }): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

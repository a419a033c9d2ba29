import { parseKey } from "../../contract/key.ts";
import { ApiError } from "../api-error.ts";
import type { Page, RunRecord, StepRecord, Store, ValueRecord } from "../store/store.ts";
import type { PackIdentity } from "./read-pack.ts";

/** What runs hold, for whoever may see all of it. Every method throws ApiError for what is not there. */
export class RunReader {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async getRun(run: string): Promise<RunRecord> {
    const record = await this.#store.getRun(run);
    if (record === undefined) throw noRun(run);
    return record;
  }

  async getStep({ run, step, attempt }: Omit<PackIdentity, "instance">): Promise<StepRecord> {
    const record = await this.#store.getStep(run, step, attempt);
    if (record !== undefined) return record;
    throw new ApiError("not_found", `no attempt ${String(attempt)} of step ${step} in run ${run}`);
  }

  async listSteps(run: string, page: Page<number>): Promise<StepRecord[]> {
    await this.getRun(run);
    return this.#store.listSteps(run, page);
  }

  /** Values that the run holds now, by key; `prefix` in any case. */
  async listValues(
    run: string,
    { prefix, ...page }: Page<string> & { readonly prefix: string },
  ): Promise<ValueRecord[]> {
    await this.getRun(run);
    return this.#store.listKeys(run, { ...page, prefix: prefix.toLowerCase() });
  }

  /** One value, by full key in any case. */
  async getValue(run: string, key: string): Promise<ValueRecord> {
    await this.getRun(run);
    const parsed = parseKey(key);
    if ("problem" in parsed) throw new ApiError("invalid_request", parsed.problem);
    const { segments } = parsed;
    // A key's step is its first segment, or its first two inside a loop.
    const steps = [segments.slice(0, 1), segments.slice(0, 2)].map((path) => path.join("."));
    const values = await this.#store.listValues(run, steps);
    const value = values.find((candidate) => candidate.key === segments.join("."));
    if (value === undefined) {
      throw new ApiError("not_found", `no variable ${segments.join(".")} in run ${run}`);
    }
    return value;
  }

  /** The value's exact bytes. They may be gone with their run. */
  async readValue({ key, sha256 }: ValueRecord): Promise<Buffer> {
    const bytes = await this.#store.getContent(sha256);
    if (bytes === undefined) throw new ApiError("not_found", `${key} was removed with its run`);
    return bytes;
  }
}

export function noRun(run: string): ApiError {
  return new ApiError("not_found", `no run ${run}`);
}

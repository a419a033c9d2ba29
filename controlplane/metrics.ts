import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What Prometheus reads (API page, Metrics). */
export class Metrics {
  readonly #registry = new Registry();
  /** `result`: accepted, repeated, refused or aborted; `code`: of a refusal, else empty. */
  readonly packs = this.#counter("wfvar_packs_total", "Packs by what became of them", [
    "result",
    "code",
  ]);
  readonly packBytes = this.#counter("wfvar_pack_bytes_total", "Bytes of accepted packs");
  readonly packSeconds = this.#histogram(
    "wfvar_pack_seconds",
    "From a pack's headers to the end of its answer",
  );
  /** `result`: sent, refused or aborted; `code`: of a refusal, else empty. */
  readonly prefills = this.#counter("wfvar_prefills_total", "Prefills by what became of them", [
    "result",
    "code",
  ]);
  readonly prefillBytes = this.#counter("wfvar_prefill_bytes_total", "Bytes of prefills sent");
  readonly prefillSeconds = this.#histogram(
    "wfvar_prefill_seconds",
    "From a prefill's request to the end of its answer",
  );
  readonly undelivered = this.#counter(
    "wfvar_undelivered_steps_total",
    "Steps ended because nothing was delivered in time",
  );
  readonly removedRuns = this.#counter("wfvar_removed_runs_total", "Runs removed after their time");
  readonly storeErrors = this.#counter(
    "wfvar_store_errors_total",
    "Calls of the database that failed",
  );

  readonly eventStreams = this.#gauge("wfvar_event_streams", "Event streams that are open");

  /** `openSteps` and `memoryBytes` are asked for at each scrape; what cannot be had is NaN. */
  constructor(openSteps: () => Promise<number>, memoryBytes: () => number) {
    collectDefaultMetrics({ register: this.#registry });
    this.#gauge("wfvar_open_steps", "Steps that are stamped or running", () =>
      // The rest of a scrape is wanted most when the store is down.
      openSteps().catch(() => Number.NaN),
    );
    this.#gauge("wfvar_body_memory_bytes", "Memory held for packs and prefills", async () =>
      memoryBytes(),
    );
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The text of a scrape. */
  async read(): Promise<string> {
    return this.#registry.metrics();
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[] = []): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram(name: string, help: string): Histogram {
    return new Histogram({ name, help, buckets: seconds, registers: [this.#registry] });
  }

  #gauge(name: string, help: string, read?: () => Promise<number>): Gauge {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      ...(read === undefined ? {} : { collect: async () => gauge.set(await read()) }),
    });
    return gauge;
  }
}

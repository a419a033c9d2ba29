import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Metrics } from "./metrics.ts";
import { StoreUnavailable } from "./store/store-unavailable.ts";
import type { Store } from "./store/store.ts";
import type { VariablesService } from "./variables/variables-service.ts";

const pauseMs = 5_000;
/** Removed in one go; the next go takes the rest. */
const maxRemovedRuns = 100;

export interface HousekeepingDeps {
  readonly service: VariablesService;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly now: () => Date;
  /** How long a run in which nothing happens is kept; undefined: for ever. */
  readonly keepMs: number | undefined;
  readonly log: Logger;
}

/**
 * What a control plane does without being asked, until the signal: ends steps whose pods never delivered (leases),
 * removes old runs. Any number of replicas may do it at once.
 */
export async function keepHouse(deps: HousekeepingDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await tidyUp(deps);
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        deps.log.warn({ event: "store_unavailable", reason: error.message });
      } else {
        deps.log.error({ event: "housekeeping_failed", err: error });
      }
    }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

async function tidyUp({
  service,
  store,
  metrics,
  now,
  keepMs,
  log,
}: HousekeepingDeps): Promise<void> {
  for (const step of await service.endOverdueSteps()) {
    metrics.undelivered.inc();
    log.warn({ event: "step_undelivered", ...step });
  }
  if (keepMs === undefined) return;
  const idleSince = new Date(now().getTime() - keepMs).toISOString();
  const removed = await store.removeRuns(idleSince, maxRemovedRuns);
  if (removed === 0) return;
  metrics.removedRuns.inc(removed);
  log.info({ event: "runs_removed", removed });
}

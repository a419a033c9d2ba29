import { setTimeout as delay } from "node:timers/promises";
import type { EventRecord, Store } from "../store/store.ts";

/** How late an event may come that another process stored. */
const pollMs = 500;
const pageSize = 100;

export interface EventStreamOptions {
  /** Only events past this number. */
  readonly after: number;
  /** How long it says nothing at most, so that a proxy between does not take silence for an end. */
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
}

/**
 * A run's events as server-sent events, those that there are first, then whatever comes, until the signal or the run's
 * removal (API page, Events). Each has its number as `id`, so that a client that was cut off goes on where it was.
 */
export async function* streamEvents(
  store: Pick<Store, "listEvents" | "getRun">,
  run: string,
  { after, heartbeatMs, signal }: EventStreamOptions,
): AsyncGenerator<string, void, undefined> {
  // At once, so that the client knows that it is connected.
  yield ":\n\n";
  let last = after;
  let silentMs = 0;
  while (!signal.aborted) {
    const events = await store.listEvents(run, { limit: pageSize, after: last });
    for (const event of events) yield format(event);
    last = events.at(-1)?.seq ?? last;
    if (events.length === pageSize) continue;
    silentMs = events.length > 0 ? 0 : silentMs + pollMs;
    if (silentMs >= heartbeatMs) {
      if ((await store.getRun(run)) === undefined) return;
      yield ":\n\n";
      silentMs = 0;
    }
    await delay(pollMs, undefined, { signal }).catch(() => undefined);
  }
}

function format({ seq, at, type, data }: EventRecord): string {
  return `id: ${String(seq)}\nevent: ${type}\ndata: ${JSON.stringify({ at, ...data })}\n\n`;
}

import type { Deadline } from "./deadline.ts";

/** Retrying with full jitter until a deadline (WV-12). */

const firstDelayMs = 250;
const maxDelayMs = 15_000;
/** With less than this left another try would not come to an end. */
const minLeftMs = 50;

export interface RetryDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after `ms` or as soon as the signal aborts; never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** 0 up to 1. */
  readonly random: () => number;
  /** Told before each wait. */
  readonly onRetry: (reason: string, tries: number, delayMs: number) => void;
}

export type Try<T> =
  | { readonly done: T }
  /** Worth another try; `afterMs` is what the other side asked for. */
  | { readonly retry: string; readonly afterMs?: number | undefined };

export type Retried<T> = { readonly done: T } | { readonly gaveUp: string; readonly tries: number };

/** Runs `attempt` until it is done, or gives the last reason where the deadline comes first. */
export async function retry<T>(
  attempt: () => Promise<Try<T>>,
  deadline: Deadline,
  { now, sleep, random, onRetry }: RetryDeps,
): Promise<Retried<T>> {
  for (let tries = 1; ; tries += 1) {
    const result = await attempt();
    if ("done" in result) return result;
    const ceilingMs = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(tries - 1, 10));
    const leftMs = deadline.at - now();
    if (leftMs < minLeftMs) return { gaveUp: result.retry, tries };
    // However long the other side asks to wait, what is left is used: afterwards the values are lost.
    const delayMs = Math.round(
      Math.min(Math.max(result.afterMs ?? 0, random() * ceilingMs), leftMs / 2),
    );
    onRetry(result.retry, tries, delayMs);
    await sleep(delayMs, deadline.signal);
    if (deadline.signal.aborted) return { gaveUp: result.retry, tries };
  }
}

import { setTimeout as delay } from "node:timers/promises";
import { destination, pino, stdTimeFunctions, type Logger } from "pino";
import type { RetryDeps } from "./retry.ts";
import { steadyNow } from "./steady-clock.ts";

/** JSON lines on stderr, written at once: a pod that is killed loses none. */
export function startLog(level: string): Logger {
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime };
  return pino(options, destination({ fd: 2, sync: true }));
}

/** Real time and chance for retries, each of which is logged. */
export function loggedRetries(log: Logger): RetryDeps {
  return {
    now: steadyNow,
    random: Math.random,
    sleep: async (ms, signal) => {
      // It only ever rejects because the signal aborted.
      await delay(ms, undefined, { signal }).catch(() => undefined);
    },
    onRetry: (reason, tries, delayMs) => log.warn({ event: "retrying", reason, tries, delayMs }),
  };
}

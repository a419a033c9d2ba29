/** SIGTERM or SIGINT: the pod is going. It never stops what runs; it says how long there is. */
export interface Interruption {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** When that was, in milliseconds since the epoch. */
  readonly at: number | undefined;
}

/** Installs the handlers. Until this is called a signal kills the process. */
export function watchForInterruption(source: NodeJS.EventEmitter, now: () => number): Interruption {
  const controller = new AbortController();
  let at: number | undefined;
  const onSignal = (): void => {
    at ??= now();
    controller.abort();
  };
  source.on("SIGTERM", onSignal);
  source.on("SIGINT", onSignal);
  return {
    signal: controller.signal,
    get at() {
      return at;
    },
  };
}

/** Why a call of `wfvar-cp` is to stop: the reason of its abort signal. */
export type StopReason = "SIGINT" | "SIGTERM" | "unread";

interface Stop {
  /** What the run's last line begins with. */
  readonly verb: string;
  /** What it adds, where the verb does not say all. */
  readonly why: string;
  readonly exitCode: number;
}

/** As a shell says it of a command that a signal ended; what nobody reads is a failure like any other. */
export const stops: Readonly<Record<StopReason, Stop>> = {
  SIGINT: { verb: "interrupted", why: "", exitCode: 130 },
  SIGTERM: { verb: "interrupted", why: "", exitCode: 143 },
  unread: { verb: "stopped", why: ": nobody reads the output any more", exitCode: 1 },
};

export function stopOf({ reason }: AbortSignal): Stop {
  return Object.entries(stops).find(([name]) => name === reason)?.[1] ?? stops.SIGTERM;
}

import type { Completion } from "../contract/codes.ts";
import type { Liveness } from "./liveness.ts";

/**
 * When the wait is over (WV-7), as a pure function of what has been seen. All times in milliseconds since the
 * epoch.
 */

/** A marker may stand before its writer is gone; after so long it is believed anyway. */
const markerPatienceMs = 5_000;
const lostAfterMs = 1_000;
/** `.started` stands, and nothing ever connected: the socket did not work, or the entrypoint died at once. */
const unconnectedLostAfterMs = 10_000;

export interface Seen extends Liveness {
  /** False where there is no socket to connect to: silence then says nothing. */
  readonly hasSocket: boolean;
  readonly waitingSince: number;
  /** When `.done` was first seen. */
  readonly markerSince: number | undefined;
  /** When `.started` was first seen. */
  readonly startedSince: number | undefined;
  /** When SIGTERM or SIGINT came. */
  readonly interruptedAt: number | undefined;
}

export interface Patience {
  readonly deadline: number | undefined;
  readonly startDeadlineMs: number | undefined;
  readonly podGraceMs: number;
  readonly deliveryReserveMs: number;
}

export type Decision = { readonly over: Completion } | { readonly lookAgainAt: number };

/** Says how the step ended, or when time alone would change the answer. */
export function decide(seen: Seen, patience: Patience, now: number): Decision {
  let lookAgainAt = Number.POSITIVE_INFINITY;
  for (const [completion, at] of ends(seen, patience)) {
    if (at <= now) return { over: completion };
    lookAgainAt = Math.min(lookAgainAt, at);
  }
  return { lookAgainAt };
}

/** Each way to end that is possible now, and when; in order of precedence. */
function* ends(seen: Seen, patience: Patience): Generator<[Completion, number]> {
  const { open, lastClosedAt, markerSince, startedSince, interruptedAt } = seen;
  const { deadline, startDeadlineMs, podGraceMs, deliveryReserveMs } = patience;
  if (markerSince !== undefined) {
    yield ["marker", open === 0 ? markerSince : markerSince + markerPatienceMs];
  } else if (lastClosedAt !== undefined) {
    yield ["lost", lastClosedAt + lostAfterMs];
  } else if (startedSince !== undefined && !seen.seen && seen.hasSocket) {
    yield ["lost", startedSince + unconnectedLostAfterMs];
  }
  if (interruptedAt !== undefined) {
    const graceMs = open === 0 ? 0 : podGraceMs - deliveryReserveMs;
    yield ["interrupted", interruptedAt + graceMs];
  }
  if (deadline !== undefined) yield ["deadline", deadline];
  const noSign = markerSince === undefined && startedSince === undefined && !seen.seen;
  if (startDeadlineMs !== undefined && noSign) {
    yield ["never_started", seen.waitingSince + startDeadlineMs];
  }
}

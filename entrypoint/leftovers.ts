import { setTimeout as sleep } from "node:timers/promises";
import { isGroupAlive, signalGroup } from "./process-group.ts";

/** Past SIGKILL only the kernel is waited for. */
const killMs = 200;
const pollMs = 20;

export interface LeftoversOptions {
  /** Between TERM and KILL. */
  readonly graceMs: number;
  /** Ends the grace. */
  readonly hurry: AbortSignal;
}

/**
 * Ends what the agent left behind in its process group, so that hooks and the marker come after its last
 * write (WV-15): TERM, the grace, KILL, 200 ms more. False where something is still there then: nothing may
 * hold the step back. What left the group is out of reach.
 */
export async function endLeftovers(group: number, options: LeftoversOptions): Promise<boolean> {
  if (!isGroupAlive(group)) return true;
  signalGroup(group, "SIGTERM");
  await untilGone(group, options.graceMs, options.hurry);
  // Also where none was seen any more: one that forked between two looks ends here.
  signalGroup(group, "SIGKILL");
  return untilGone(group, killMs);
}

async function untilGone(group: number, withinMs: number, hurry?: AbortSignal): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (isGroupAlive(group)) {
    if (performance.now() >= end || hurry?.aborted === true) return false;
    await sleep(pollMs);
  }
  return true;
}

import { lstatSync, watch, type FSWatcher } from "node:fs";
import { at, atSelf } from "../contract/at.ts";
import type { Completion } from "../contract/codes.ts";
import { rootFiles } from "../contract/layout.ts";
import { decide, type Patience } from "./completion.ts";
import type { Interruption } from "./interruption.ts";
import { openLivenessSocket } from "./liveness.ts";

/**
 * Waits for the end of the step (WV-7). Watch first, then look, then wait, so that nothing falls between.
 * Until the watch has proved itself by a first event (inotify may be exhausted, a file system may not notify)
 * the folder is looked at four times a second; afterwards rarely, as a safeguard.
 */

const unprovenPollMs = 250;
const provenPollMs = 5_000;

export interface WaitOptions {
  readonly patience: Patience;
  readonly interruption: Interruption;
  readonly now: () => number;
  readonly onWarning: (event: "liveness_unavailable" | "watch_unavailable") => void;
}

/** Resolves with how the step ended. The socket is closed by then. */
export async function waitForEnd(rootFd: number, options: WaitOptions): Promise<Completion> {
  const { patience, interruption, now, onWarning } = options;
  const bell = new Bell();
  let proven = false;
  const watcher = tryWatch(atSelf(rootFd), (works) => {
    proven = works;
    bell.ring();
  });
  if (watcher === undefined) onWarning("watch_unavailable");
  const ring = (): void => bell.ring();
  interruption.signal.addEventListener("abort", ring);
  const socket = await openLivenessSocket(rootFd, { now, onChange: ring });
  if (socket === undefined) onWarning("liveness_unavailable");

  const waitingSince = now();
  let markerSince: number | undefined;
  let startedSince: number | undefined;
  try {
    for (;;) {
      bell.reset();
      // The connection is asked before the marker is: one that closes has left its marker by then.
      const liveness = socket?.state() ?? { open: 0, seen: false, lastClosedAt: undefined };
      if (stands(rootFd, rootFiles.done)) markerSince ??= now();
      else markerSince = undefined;
      if (stands(rootFd, rootFiles.started)) startedSince ??= now();
      const seen = {
        ...liveness,
        hasSocket: socket !== undefined,
        waitingSince,
        markerSince,
        startedSince,
        interruptedAt: interruption.at,
      };
      const decision = decide(seen, patience, now());
      if ("over" in decision) return decision.over;
      const pollMs = proven ? provenPollMs : unprovenPollMs;
      await bell.heard(Math.min(decision.lookAgainAt - now(), pollMs));
    }
  } finally {
    interruption.signal.removeEventListener("abort", ring);
    socket?.close();
    watcher?.close();
  }
}

/** Wakes the one who waits; a ring between reset and waiting is not lost. */
class Bell {
  #wake: (() => void) | undefined;
  #rung = false;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  reset(): void {
    this.#rung = false;
  }

  /** Resolves at the next ring, at one since the reset, or after `ms`. */
  async heard(ms: number): Promise<void> {
    if (this.#rung) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, ms));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

function tryWatch(path: string, onNews: (works: boolean) => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, () => onNews(true));
    watcher.on("error", () => {
      watcher.close();
      onNews(false);
    });
    return watcher;
  } catch {
    return undefined;
  }
}

function stands(rootFd: number, name: string): boolean {
  try {
    lstatSync(at(rootFd, name));
    return true;
  } catch {
    return false;
  }
}

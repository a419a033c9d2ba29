import { constants, createWriteStream, fstatSync, openSync, type Stats } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { atSelf } from "../contract/at.ts";

/**
 * Our own stdout and stderr, which whoever started us shares, and the hooks: nothing here closes, rewinds or
 * shuts down either.
 */

export type OwnOutput = 1 | 2;

/**
 * A pipe opened once more: non-blocking for this one user and for nobody who shares it. Undefined where it is
 * no pipe, or where it is another uid's.
 */
export function reopenPipe(output: OwnOutput): number | undefined {
  try {
    if (!fstatSync(output).isFIFO()) return undefined;
    return openSync(atSelf(output), constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/**
 * A stream into it that never blocks the event loop, nor the exit, on a slow reader. A pipe is reopened. A
 * socket cannot be, and a pipe of another uid may not: these two become non-blocking for everyone. A file is
 * written where it stands: reopened, it would be written over.
 */
export function openOutput(output: OwnOutput): Writable {
  const fd = reopenPipe(output);
  if (fd !== undefined) return new KeptSocket({ fd, readable: false, writable: true });
  const stats: Stats = fstatSync(output);
  if (stats.isFIFO() || stats.isSocket()) {
    return new KeptSocket({ fd: output, readable: false, writable: true });
  }
  return createWriteStream("", { fd: output, autoClose: false });
}

/** Its end closes nothing: the next file to be opened would get the number of stdout or stderr. */
class KeptSocket extends Socket {
  override _final(callback: (error?: Error | null) => void): void {
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    callback(error);
  }
}

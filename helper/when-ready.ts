import { errnoOf } from "./variables-error.ts";

const retryMs = 5;

/**
 * Repeats a read or write until it does not answer EAGAIN. A parent may hand down pipes that are set not to block, and the flag
 * belongs to the pipe, not to us to change.
 */
export function whenReady<T>(call: () => T): T {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (errnoOf(error) !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
    }
  }
}

/**
 * Milliseconds since the epoch, on a clock that never steps: the wall clock at this process's start, and steady
 * from there on. A wall clock that is set back in the middle of a wait would stall it.
 */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

/** setTimeout takes no more than this many milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * An instant that may be moved while others wait for it: SIGTERM shortens a delivery that runs. `signal`
 * aborts when it comes.
 */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #at: number;
  #disposed = false;

  /** `at` in milliseconds since the epoch. */
  constructor(at: number, now: () => number) {
    this.#now = now;
    this.#at = at;
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get at(): number {
    return this.#at;
  }

  /** Moves the end to `at` where that is earlier. */
  shortenTo(at: number): void {
    this.#at = Math.min(this.#at, at);
    this.#arm();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    // A timer now would keep a process alive that has nothing left to do.
    if (this.#disposed) return;
    const leftMs = this.#at - this.#now();
    if (leftMs <= 0) this.#controller.abort(new DOMException("the time is over", "TimeoutError"));
    else this.#timer = setTimeout(() => this.#arm(), Math.min(leftMs, maxTimerMs));
  }
}

import { ApiError } from "../api-error.ts";

/** What bodies of all requests together may hold in memory; a request that finds no room is told to come again. */
export class MemoryBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes room, and gives a function that gives it back, once. Throws `unavailable` where there is none; what is
   * larger than the whole budget is let in alone.
   */
  take(bytes: number): () => void {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) {
      throw new ApiError("unavailable", "other bodies fill the memory that there is for them");
    }
    this.#bytes += bytes;
    let held = bytes;
    return () => {
      this.#bytes -= held;
      held = 0;
    };
  }
}

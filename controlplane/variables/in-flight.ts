import { ApiError } from "../api-error.ts";

/**
 * At most so many calls for one key at a time. A step's pod makes one after the other; whoever makes more at once
 * would hold a pack's memory for each.
 */
export class InFlight {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Throws `unavailable` where the key has all its calls under way; the caller may try again. */
  async run<T>(key: string, use: () => Promise<T>): Promise<T> {
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#max)
      throw new ApiError("unavailable", "another call for this step is under way");
    this.#counts.set(key, count + 1);
    try {
      return await use();
    } finally {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    }
  }
}

import { ApiError } from "../api-error.ts";
import { wholeNumber } from "./whole-number.ts";

/** Of a place in a run, as a database's INTEGER holds it. */
export const maxSeq = 2 ** 31 - 1;

/** How many a page has, in the query of a list. */
export const pageLimit = wholeNumber(1, 1000).default(100);

/**
 * Makes a page of what a list gave that was asked for one more than the page holds. `next`: the cursor of the page
 * after; null where this one is the last.
 */
export function toPage<T>(
  found: readonly T[],
  limit: number,
  cursorOf: (last: T) => string,
): { readonly page: readonly T[]; readonly next: string | null } {
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return { page, next: last === undefined ? null : cursorOf(last) };
}

/** A cursor that no page gave, or whose run is gone. */
export function unknownCursor(): ApiError {
  return new ApiError("invalid_request", "cursor: not one that this list gave, or gone since");
}

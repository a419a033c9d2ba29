import * as z from "zod";

/** A number in a URL or a header, in digits alone: nothing there is a number by itself. */
export function wholeNumber(min: number, max: number) {
  return z.preprocess(
    (text) => (typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : text),
    z.int().min(min).max(max),
  );
}

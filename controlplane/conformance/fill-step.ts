import { compareKeys } from "../../contract/key.ts";
import type { Limits } from "../../contract/limits.ts";

/**
 * Values that have `bytes` together, none over its own limit; undefined where the limits leave no room for
 * so many.
 */
export function fillStep(
  { max_value_bytes, max_step_files }: Limits,
  bytes: number,
): Readonly<Record<string, string>> | undefined {
  const count = Math.ceil(bytes / max_value_bytes);
  if (count > max_step_files) return undefined;
  return valuesOf(count, (index) => Math.min(max_value_bytes, bytes - index * max_value_bytes));
}

/** So many values with nothing in them. */
export function emptyValues(count: number): Readonly<Record<string, string>> {
  return valuesOf(count, () => 0);
}

function valuesOf(count: number, sizeOf: (index: number) => number): Record<string, string> {
  const keys = Array.from({ length: count }, (_, index) => `v${String(index)}`);
  const sized = keys.map((key, index) => [key, "x".repeat(sizeOf(index))] as const);
  return Object.fromEntries(sized.toSorted(([a], [b]) => compareKeys(a, b)));
}

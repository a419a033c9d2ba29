/** Narrowing of values that came out of `JSON.parse`, for the modules that may not use zod. */

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

export function isIntegerIn(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

export function isOneOf<T extends string>(all: readonly T[], value: unknown): value is T {
  return all.some((one) => one === value);
}

/** The object that the bytes spell as UTF-8 JSON; undefined where they do not. */
export function parseJsonObject(untrusted: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(untrusted));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

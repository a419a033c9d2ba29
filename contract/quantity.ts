/** Durations and sizes as people write them in settings, and as people read them in output. */

const KiB = 1024;
const MiB = 1024 ** 2;
const GiB = 1024 ** 3;
const durationUnitsMs = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
const sizeUnits = new Map([
  ["", 1],
  ["B", 1],
  ["KiB", KiB],
  ["MiB", MiB],
  ["GiB", GiB],
]);

/** `30s`, `500ms`, `2m`, `1h`, `30d` in milliseconds; undefined where it is not one. */
export function parseDurationMs(text: string): number | undefined {
  return parseQuantity(text, durationUnitsMs);
}

/** `1MiB`, `64KiB`, `4096` (bytes) in bytes; undefined where it is not one. */
export function parseSizeBytes(text: string): number | undefined {
  return parseQuantity(text, sizeUnits);
}

/** `5 bytes`, `1.5 KiB`, `1 MiB`. */
export function formatSize(bytes: number): string {
  if (bytes === 1) return "1 byte";
  if (bytes < 1024) return `${String(bytes)} bytes`;
  const [unit, divisor] =
    bytes < MiB ? ["KiB", KiB] : bytes < GiB ? ["MiB", MiB] : (["GiB", GiB] as const);
  return `${String(Math.round((bytes / divisor) * 10) / 10)} ${unit}`;
}

function parseQuantity(text: string, units: ReadonlyMap<string, number>): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,12})([A-Za-z]*)$/.exec(text) ?? [];
  const factor = units.get(unit);
  if (digits === undefined || factor === undefined) return undefined;
  const quantity = Number(digits) * factor;
  return Number.isSafeInteger(quantity) ? quantity : undefined;
}

import { isIntegerIn, isJsonObject, isOneOf, isStringArray, parseJsonObject } from "./json.ts";
import { maxMarkerBytes } from "./limits.ts";

/** The completion marker (WV-6): what the entrypoint says of the agent's end. */

/**
 * Of a version. What a marker may hold is what a pack may hold of it: one that could not travel is not a
 * marker.
 */
export const maxKitLength = 64;

export const outcomes = ["succeeded", "failed", "terminated"] as const;
export type Outcome = (typeof outcomes)[number];

export const finalizeStatuses = ["succeeded", "failed", "timed_out", "none"] as const;
export type FinalizeStatus = (typeof finalizeStatuses)[number];

export interface Marker {
  readonly version: 1;
  /** `terminated` if and only if TERM or INT came before the agent's exit. */
  readonly outcome: Outcome;
  /** The entrypoint's own exit status, 0–255. */
  readonly exit_code: number;
  /** The signal that ended the agent, `SIGKILL`, or null. */
  readonly signal: string | null;
  /** RFC 3339. */
  readonly started_at: string;
  readonly finished_at: string;
  readonly finalize: { readonly status: FinalizeStatus; readonly failed: readonly string[] };
  /** Version of the kit that wrote it. */
  readonly kit: string;
}

/** The marker's bytes, at most 4096: names of failed hooks are dropped from the end to fit. */
export function formatMarker(marker: Marker): Buffer {
  const { status } = marker.finalize;
  for (let keep = marker.finalize.failed.length; ; keep -= 1) {
    const failed = marker.finalize.failed.slice(0, keep);
    const bytes = Buffer.from(JSON.stringify({ ...marker, finalize: { status, failed } }));
    if (bytes.length <= maxMarkerBytes || keep === 0) return bytes;
  }
}

/** Reads untrusted marker bytes; undefined where they are not a marker. Unknown fields are dropped. */
export function parseMarker(untrusted: Uint8Array): Marker | undefined {
  if (untrusted.length > maxMarkerBytes) return undefined;
  const json = parseJsonObject(untrusted);
  const finalize = json?.["finalize"];
  if (json === undefined || !isJsonObject(finalize)) return undefined;
  const { version, outcome, exit_code, signal, started_at, finished_at, kit } = json;
  const { status, failed } = finalize;
  if (version !== 1 || !isOneOf(outcomes, outcome) || !isOneOf(finalizeStatuses, status))
    return undefined;
  if (!isIntegerIn(exit_code, 0, 255) || !(signal === null || isSignalName(signal)))
    return undefined;
  if (!isInstant(started_at) || !isInstant(finished_at)) return undefined;
  if (typeof kit !== "string" || kit.length > maxKitLength || !isStringArray(failed))
    return undefined;
  const clean = { status, failed };
  return { version, outcome, exit_code, signal, started_at, finished_at, finalize: clean, kit };
}

/** True for an RFC 3339 date and time with a zone. */
export function isInstant(value: unknown): value is string {
  return (
    typeof value === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

function isSignalName(value: unknown): value is string {
  return typeof value === "string" && /^SIG[A-Z0-9]{1,12}$/.test(value);
}

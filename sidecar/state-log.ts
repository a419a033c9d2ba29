import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { sidecarCodes, type SidecarCode } from "../contract/codes.ts";
import { isJsonObject, isOneOf, parseJsonObject } from "../contract/json.ts";
import type { Rejection } from "../contract/pack.ts";
import { writeAll } from "./prefill-writer.ts";

/**
 * Where the sidecar stands, kept in the pod's termination message file (WV-12): the kubelet shows it when the
 * container has ended, `status` reads it before, and the agent's container cannot reach it.
 */

/** The kubelet keeps no more of a termination message. */
const maxBytes = 4096;
/** So that it fits whatever its characters: three bytes each, as JSON six. */
const maxMessageLength = 600;

const phases = [
  "prefilled",
  "waiting",
  "packing",
  "delivering",
  "delivered",
  ...sidecarCodes,
] as const;
export type Phase = "prefilled" | "waiting" | "packing" | "delivering" | "delivered" | SidecarCode;

export interface StateDetails {
  readonly message?: string;
  /** Values in the pack. */
  readonly accepted?: number;
  readonly rejected?: readonly Rejection[];
}

export interface State extends StateDetails {
  readonly state: Phase;
  /** RFC 3339: since when. */
  readonly at: string;
}

export class StateLog {
  readonly #file: string;
  readonly #now: () => Date;

  constructor(file: string, now: () => Date) {
    this.#file = file;
    this.#now = now;
  }

  /**
   * Replaces what the file holds. Where there is none, or it cannot be written, nothing is lost: stderr has
   * the same.
   */
  write(state: Phase, details: StateDetails = {}): void {
    const bytes = formatState({ state, at: this.#now().toISOString(), ...details });
    try {
      const fd = openSync(
        this.#file,
        constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW,
      );
      try {
        writeAll(fd, bytes);
      } finally {
        closeSync(fd);
      }
    } catch {
      // Outside a pod there is no such file.
    }
  }
}

/**
 * JSON of at most 4096 bytes; rejections are dropped from the end to fit, and counted, then the message is
 * cut.
 */
export function formatState(state: State): Buffer {
  const { rejected = [], message = "", ...rest } = state;
  for (let keep = rejected.length; ; keep -= 1) {
    const dropped = rejected.length - keep;
    const fitted = {
      ...rest,
      ...(message === ""
        ? {}
        : { message: keep === 0 ? message.slice(0, maxMessageLength) : message }),
      ...(rejected.length === 0 ? {} : { rejected: rejected.slice(0, Math.max(0, keep)) }),
      ...(dropped === 0 ? {} : { rejected_not_listed: dropped }),
    };
    const bytes = Buffer.from(JSON.stringify(fitted));
    if (bytes.length <= maxBytes || keep === 0) return bytes.subarray(0, maxBytes);
  }
}

/** What the file says; undefined where there is none or it says nothing of this kind. */
export function readState(file: string): (State & { readonly rejectedCount: number }) | undefined {
  let json;
  try {
    json = parseJsonObject(readFileSync(file));
  } catch {
    return undefined;
  }
  if (json === undefined) return undefined;
  const { state, at, message, accepted, rejected, rejected_not_listed: more } = json;
  if (!isOneOf(phases, state) || typeof at !== "string") return undefined;
  const listed = Array.isArray(rejected) ? rejected.filter(isJsonObject).length : 0;
  return {
    state,
    at,
    rejectedCount: listed + (typeof more === "number" ? more : 0),
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof accepted === "number" ? { accepted } : {}),
  };
}

import { closeSync, constants, openSync } from "node:fs";
import { writeAll } from "./prefill-writer.ts";
import type { Rejection } from "../contract/pack.ts";

/** The kubelet keeps no more of a termination message. */
const maxBytes = 4096;

export interface LastWord {
  /** `delivered` or a sidecar code. */
  readonly result: string;
  readonly message?: string;
  readonly step?: string;
  readonly accepted?: number;
  readonly rejected?: readonly Rejection[];
}

/** The pod's termination message (WV-12): JSON of at most 4096 bytes; rejections are dropped from the end to fit, and counted. */
export function formatLastWord(word: LastWord): Buffer {
  const all = word.rejected ?? [];
  for (let keep = all.length; ; keep -= 1) {
    const dropped = all.length - keep;
    const rejected = word.rejected === undefined ? {} : { rejected: all.slice(0, keep) };
    const more = dropped === 0 ? {} : { rejected_not_listed: dropped };
    const bytes = Buffer.from(JSON.stringify({ ...word, ...rejected, ...more }));
    if (bytes.length <= maxBytes || keep === 0) return bytes.subarray(0, maxBytes);
  }
}

/** Writes into the file that the kubelet made; where there is none, or it cannot be written, nothing is lost: stderr has the same. */
export function writeLastWord(file: string, word: LastWord): void {
  try {
    const fd = openSync(file, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW);
    try {
      writeAll(fd, formatLastWord(word));
    } finally {
      closeSync(fd);
    }
  } catch {
    // Outside a pod there is no such file.
  }
}

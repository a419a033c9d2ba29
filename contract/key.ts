/**
 * Keys (WV-2): the lowercased path from the root to a leaf, joined by dots. ASCII is checked
 * before lowercasing, because U+212A and its kind lowercase into letters.
 */

/** Segments of a key, counted from the root. */
export const maxSegments = 8;
/** Bytes of one segment. */
export const maxSegmentBytes = 64;
/** Bytes of a flat file name under `workflow/`: the file system's own limit. */
export const maxFlatNameBytes = 255;

const segmentPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The segment that a file or folder name stands for, or undefined where it breaks the rule. */
export function foldSegment(name: string): string | undefined {
  // `$` without the m flag matches only at the end in JavaScript: "a\n" does not pass.
  return segmentPattern.test(name) ? name.toLowerCase() : undefined;
}

/** The segment of a name as it stands on disk; every byte must be ASCII. */
export function foldNameBytes(name: Buffer): string | undefined {
  return name.length > maxSegmentBytes ? undefined : foldSegment(name.toString("latin1"));
}

export interface KeyProblem {
  /** What is wrong and the limit, for a person; never ends in a full stop. */
  readonly problem: string;
}

export type KeyResult = { readonly segments: readonly string[] } | KeyProblem;

/** Splits and checks a key in any case. Shape only: says nothing of what exists. */
export function parseKey(text: string): KeyResult {
  if (text === "") return { problem: "the key is empty" };
  const segments: string[] = [];
  for (const part of text.split(".")) {
    const segment = foldSegment(part);
    if (segment === undefined) return { problem: explainSegment(part) };
    segments.push(segment);
  }
  if (segments.length > maxSegments) {
    return {
      problem: `the key has ${String(segments.length)} segments; the limit is ${String(maxSegments)}`,
    };
  }
  if (segments[0] === "workflow" && segments.slice(1).join(".").length > maxFlatNameBytes) {
    return { problem: `a workflow name is at most ${String(maxFlatNameBytes)} bytes` };
  }
  return { segments };
}

function explainSegment(part: string): string {
  if (part === "") return "a segment is empty: no leading, trailing or double dots";
  if (part.length > maxSegmentBytes) {
    return `a segment has ${String(part.length)} characters; the limit is ${String(maxSegmentBytes)}`;
  }
  return "segments are letters, digits, `-` and `_`, and start with a letter or digit";
}

/** Order of keys everywhere: by bytes, which for keys is by UTF-16 unit. */
export function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

import type { PackCode, RejectCode, SkipCode } from "../../contract/codes.ts";
import { escapePath } from "../../contract/escape.ts";

/** Something that a pack would leave out or pass over (WV-11). */
export interface Issue<C extends string> {
  readonly code: C;
  /** Bytes, relative to the own folder; empty for the own folder itself. */
  readonly path: Buffer;
  /** What to do about it, for a person. */
  readonly advice: string;
  /** Full. */
  readonly key?: string;
  readonly size?: number;
  readonly limit?: number;
}

export type RejectedIssue = Issue<RejectCode | PackCode>;
export type SkippedIssue = Issue<SkipCode>;

/** As a pack lists it: the path escaped, `.` for the own folder, sorted by path bytes. */
export type ListedIssue<I extends Issue<string>> = Omit<I, "path"> & { readonly path: string };

export function listIssues<I extends Issue<string>>(issues: readonly I[]): ListedIssue<I>[] {
  const sorted = [...issues];
  sorted.sort((a, b) => Buffer.compare(a.path, b.path) || (a.code < b.code ? -1 : 1));
  return sorted.map((issue) => ({ ...issue, path: escapePath(issue.path) || "." }));
}

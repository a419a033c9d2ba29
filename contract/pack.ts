import type { PackCode, RejectCode, SkipCode, Completion } from "./codes.ts";
import type { Limits } from "./limits.ts";
import type { Marker } from "./marker.ts";

/** The pack (WV-11): a tar of `pack.json` and then `values/<full key>`, sorted by key. */

export const manifestName = "pack.json";
export const valuesFolder = "values/";

/** Issues listed in a pack; the rest are counted per code in `more`. */
export const maxListedIssues = 100;

export interface Rejection {
  readonly code: RejectCode | PackCode;
  /** Relative to the own folder, escaped (WV-11). */
  readonly path: string;
  readonly key?: string | undefined;
  readonly size?: number | undefined;
  readonly limit?: number | undefined;
}

export interface Skip {
  readonly code: SkipCode;
  readonly path: string;
}

export interface PackManifest {
  readonly version: 1;
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
  readonly instance: string;
  readonly completion: { readonly by: Completion; readonly marker: Marker | null };
  readonly limits: Limits;
  readonly variables: readonly { readonly key: string; readonly size: number }[];
  readonly rejected: readonly Rejection[];
  readonly skipped: readonly Skip[];
  readonly more: Readonly<Record<string, number>>;
  readonly sidecar: string;
}

/**
 * Tar header fields of every file in a pack or a prefill: no clock, host or owner, so that equal content is
 * equal bytes.
 */
export function fileHeader(name: string, size: number): TarHeader {
  return { name, size, type: "file", mode: 0o444, uid: 0, gid: 0, mtime: new Date(0) };
}

/** As `fileHeader`, for the folders of a prefill. */
export function folderHeader(name: string): TarHeader {
  return { name, size: 0, type: "directory", mode: 0o555, uid: 0, gid: 0, mtime: new Date(0) };
}

export interface TarHeader {
  name: string;
  size: number;
  type: "file" | "directory";
  mode: number;
  uid: number;
  gid: number;
  mtime: Date;
}

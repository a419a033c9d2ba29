import { closeSync } from "node:fs";
import type { Completion } from "../contract/codes.ts";
import type { StepPath } from "../contract/ids.ts";
import { rootFiles } from "../contract/layout.ts";
import type { Limits } from "../contract/limits.ts";
import type { Marker } from "../contract/marker.ts";
import type { Rejection, Skip } from "../contract/pack.ts";
import { readMarker } from "./marker.ts";
import { Issues } from "./walk/issues.ts";
import { findStrays, openOwnFolder } from "./walk/own-folder.ts";
import { walk, type Value, type Walk, type WalkHooks } from "./walk/walk.ts";

/** What a step left behind, before it is packed. */
export interface Collected {
  readonly completion: { readonly by: Completion; readonly marker: Marker | null };
  readonly values: readonly Value[];
  readonly rejected: readonly Rejection[];
  readonly skipped: readonly Skip[];
  readonly more: Readonly<Record<string, number>>;
}

/** Reads the marker, walks the own folder and notes what stands beside it (WV-6, WV-11). */
export function collect(
  rootFd: number,
  step: StepPath,
  by: Completion,
  limits: Limits,
  hooks: WalkHooks = {},
): Collected {
  let issues = new Issues();
  const ownFd = openOwnFolder(rootFd, step);
  let walked: Walk = { values: [] };
  if (ownFd === "missing") issues.skip(Buffer.alloc(0), "own_folder_missing");
  else if (ownFd === "unreadable") issues.reject(Buffer.alloc(0), { code: "unreadable" });
  else {
    try {
      walked = walk(ownFd, step.segments, limits, issues, hooks);
    } finally {
      closeSync(ownFd);
    }
  }
  // A limit of the whole pack stands alone: what else a cut walk saw depends on the order of the folder.
  if (walked.exceeded !== undefined) issues = new Issues();
  for (const path of findStrays(rootFd, step, limits.max_step_entries)) {
    issues.skip(path, "stray_at_root");
  }
  const marker = readMarker(rootFd);
  if (marker === null) issues.skip(Buffer.from(rootFiles.done), "marker_invalid");
  const listed = issues.list();
  return {
    completion: { by, marker: marker ?? null },
    values: walked.values,
    ...listed,
    ...(walked.exceeded === undefined ? {} : { rejected: [{ ...walked.exceeded, path: "." }] }),
  };
}

import { readlinkSync } from "node:fs";
import { atSelf } from "../contract/at.ts";
import { openFileAt, withFd } from "./descriptors.ts";
import type { EntryBudget } from "./entry-budget.ts";
import { obstacleNamed, obstacleOfType } from "./files-named.ts";
import { nameOf, type Entry, type Folder } from "./folder.ts";
import type { Obstacle } from "./obstacle.ts";
import { foldFlatName } from "./workflow-rules.ts";

/**
 * `ambiguous`: several names fold to it (WV-2), the files at these paths. `barred`: nothing but an obstacle bears its
 * name, or that of a folder on the way; `place` is the key's beginning up to there.
 */
export type Lookup<T> =
  | { readonly status: "found"; readonly value: T }
  | { readonly status: "absent" }
  | { readonly status: "ambiguous"; readonly paths: readonly string[] }
  | { readonly status: "barred"; readonly place: string; readonly obstacle: Obstacle };

/** Finds a leaf below a folder, in any case, and gives its open file to `use`. Closes whatever it opened. */
export function findLeaf<T>(
  folder: Folder,
  path: readonly string[],
  budget: EntryBudget,
  use: (fd: number) => T,
): Lookup<T> {
  const [segment, ...rest] = path;
  if (segment === undefined) return { status: "absent" };
  if (rest.length === 0) return openLeaf(folder, segment, budget, use);
  const verdict = folder.list(budget);
  const spellings = verdict.folders.get(segment);
  if (spellings === undefined) return barredOrAbsent(segment, obstacleNamed(verdict, segment));
  const child = folder.open(segment, spellings);
  try {
    const found = findLeaf(child, rest, budget, use);
    if (found.status === "barred") return { ...found, place: `${segment}.${found.place}` };
    return found.status === "absent" ? barredOrAbsent(segment, child.obstacle) : found;
  } finally {
    child.close();
  }
}

function openLeaf<T>(
  folder: Folder,
  segment: string,
  budget: EntryBudget,
  use: (fd: number) => T,
): Lookup<T> {
  const { leaves, invalid, skipped } = folder.list(budget);
  const same = invalid.filter((entry) => bears(entry, segment));
  if (same.length > 0) return { status: "ambiguous", paths: same.map(pathOf) };
  const leaf = leaves.get(segment);
  if (leaf === undefined) {
    const odd = skipped.find(({ entry }) => bears(entry, segment));
    return barredOrAbsent(segment, odd && obstacleOfType(odd.entry.type));
  }
  const fd = openFileAt(leaf.origin, nameOf(leaf.name));
  if (typeof fd === "number") return { status: "found", value: withFd(fd, use) };
  return barredOrAbsent(segment, fd === "absent" ? undefined : fd);
}

function barredOrAbsent<T>(place: string, obstacle: Obstacle | undefined): Lookup<T> {
  return obstacle === undefined ? { status: "absent" } : { status: "barred", place, obstacle };
}

function pathOf({ origin, name }: Entry): string {
  return `${readlinkSync(atSelf(origin))}/${nameOf(name)}`;
}

/** True of what is no folder and folds to the segment; in no folder but `workflow` does a segment hold dots. */
function bears({ type, name }: Entry, segment: string): boolean {
  return type !== "folder" && foldFlatName(name) === segment;
}

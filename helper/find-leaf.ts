import type { FolderVerdict } from "../contract/folder-rules.ts";
import { openFileAt, withFd, type Refusal } from "./descriptors.ts";
import type { EntryBudget } from "./entry-budget.ts";
import { isOddNamed } from "./files-named.ts";
import { nameOf, type Entry, type Folder } from "./folder.ts";
import { foldFlatName } from "./workflow-rules.ts";

/**
 * `absent`: no such leaf. `ambiguous`: several names fold to it (WV-2). `unsafe`: nothing but a link, a pipe or the like
 * bears its name, or that of a folder on the way.
 */
export type Lookup<T> =
  | { readonly status: "found"; readonly value: T }
  | { readonly status: Refusal | "ambiguous" };

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
  if (spellings === undefined) {
    return { status: isOddNamed(verdict, segment) ? "unsafe" : "absent" };
  }
  const child = folder.open(segment, spellings);
  try {
    const found = findLeaf(child, rest, budget, use);
    return found.status === "absent" && child.unsafe ? { status: "unsafe" } : found;
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
  if (invalid.some((entry) => bears(entry, segment))) return { status: "ambiguous" };
  const leaf = leaves.get(segment);
  const fd =
    leaf === undefined ? missing(skipped, segment) : openFileAt(leaf.origin, nameOf(leaf.name));
  return typeof fd === "number" ? { status: "found", value: withFd(fd, use) } : { status: fd };
}

function missing(skipped: FolderVerdict<number>["skipped"], segment: string): Refusal {
  return skipped.some(({ entry }) => bears(entry, segment)) ? "unsafe" : "absent";
}

/** True of what is no folder and folds to the segment; in no folder but `workflow` does a segment hold dots. */
function bears({ type, name }: Entry, segment: string): boolean {
  return type !== "folder" && foldFlatName(name) === segment;
}

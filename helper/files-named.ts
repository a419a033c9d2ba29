import type { FolderVerdict } from "../contract/folder-rules.ts";
import { foldNameBytes } from "../contract/key.ts";
import type { Entry } from "./folder.ts";

/**
 * Every file of a folder that folds to the segment, more than one where the key is ambiguous. In one order for
 * all writers: two of them must not each remove the other's.
 */
export function filesNamed(verdict: FolderVerdict<number>, segment: string): Entry[] {
  const alone = verdict.leaves.get(segment);
  if (alone !== undefined) return [alone];
  const collided = verdict.invalid.filter(
    (entry) => entry.type === "file" && foldsTo(entry, segment),
  );
  collided.sort((a, b) => Buffer.compare(a.name, b.name));
  return collided;
}

/**
 * True where what bears the segment's name is never gone into: a link, a pipe or the like, or a folder that has
 * more spellings than are merged.
 */
export function isOddNamed({ skipped, invalid }: FolderVerdict<number>, segment: string): boolean {
  return (
    skipped.some(({ entry }) => foldsTo(entry, segment)) ||
    invalid.some((entry) => entry.type === "folder" && foldsTo(entry, segment))
  );
}

function foldsTo(entry: Entry, segment: string): boolean {
  return foldNameBytes(entry.name) === segment;
}

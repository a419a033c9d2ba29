import type { EntryType, FolderVerdict } from "../contract/folder-rules.ts";
import { foldNameBytes } from "../contract/key.ts";
import type { Entry } from "./folder.ts";
import type { Obstacle } from "./obstacle.ts";

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

/** What bears the segment's name and is never gone into; undefined where nothing does. */
export function obstacleNamed(
  { skipped, invalid }: FolderVerdict<number>,
  segment: string,
): Obstacle | undefined {
  const odd = skipped.find(({ entry }) => foldsTo(entry, segment));
  if (odd !== undefined) return obstacleOfType(odd.entry.type);
  const isCrowded = invalid.some((entry) => entry.type === "folder" && foldsTo(entry, segment));
  return isCrowded ? "spellings" : undefined;
}

/** Of an entry that is no variable because of its type. */
export function obstacleOfType(type: EntryType): Obstacle {
  return type === "file" || type === "folder" ? "odd" : type;
}

function foldsTo(entry: Entry, segment: string): boolean {
  return foldNameBytes(entry.name) === segment;
}

import { foldNameBytes, maxSegments } from "./key.ts";
import type { SkipCode } from "./codes.ts";

/**
 * What the entries of one folder are to a pack (WV-2, WV-11), before anything is opened. Folders whose names
 * fold together are one folder, so the caller lists them all and gives the entries together; `O` is the
 * caller's own handle on an entry's parent.
 */

export type EntryType = "file" | "folder" | "symlink" | "fifo" | "socket" | "device";

export interface FolderEntry<O> {
  readonly name: Buffer;
  readonly type: EntryType;
  readonly origin: O;
}

export interface FolderVerdict<O> {
  /** Leaves to open, by segment; each alone under its key. */
  readonly leaves: ReadonlyMap<string, FolderEntry<O>>;
  /** Folders to go down into, by segment; those that fold together are one. */
  readonly folders: ReadonlyMap<string, readonly FolderEntry<O>[]>;
  /** Rejected as `invalid_output_key`: a bad name, a leaf that collides, a folder that would be too deep. */
  readonly invalid: readonly FolderEntry<O>[];
  readonly skipped: readonly { readonly code: SkipCode; readonly entry: FolderEntry<O> }[];
  readonly files: number;
}

/**
 * Spellings of one folder (`Findings`, `FINDINGS`) that are merged; a folder with more is rejected whole. All
 * of them are held open at once, at up to eight levels, and a process may have no more than 1024 files open.
 */
export const maxFolderSpellings = 64;

const skipCodeOf = {
  symlink: "skipped_symlink",
  fifo: "skipped_fifo",
  socket: "skipped_socket",
  device: "skipped_device",
} as const satisfies Record<Exclude<EntryType, "file" | "folder">, SkipCode>;

/** `depth` is the number of segments of the folder itself, counted from the root. */
export function judgeFolder<O>(entries: Iterable<FolderEntry<O>>, depth: number): FolderVerdict<O> {
  const leaves = new Map<string, FolderEntry<O>[]>();
  const folders = new Map<string, FolderEntry<O>[]>();
  const invalid: FolderEntry<O>[] = [];
  const skipped: { code: SkipCode; entry: FolderEntry<O> }[] = [];
  let files = 0;
  for (const entry of entries) {
    if (entry.name[0] === 0x2e) {
      skipped.push({ code: "skipped_dotfile", entry });
      continue;
    }
    if (entry.type !== "file" && entry.type !== "folder") {
      skipped.push({ code: skipCodeOf[entry.type], entry });
      continue;
    }
    if (entry.type === "file") files += 1;
    const segment = foldNameBytes(entry.name);
    const deepest = entry.type === "file" ? maxSegments : maxSegments - 1;
    if (segment === undefined || depth + 1 > deepest) {
      invalid.push(entry);
      continue;
    }
    const group = entry.type === "file" ? leaves : folders;
    const same = group.get(segment);
    if (same === undefined) group.set(segment, [entry]);
    else same.push(entry);
  }
  const alone = new Map<string, FolderEntry<O>>();
  for (const [segment, [first, ...others]] of leaves) {
    if (first === undefined) continue;
    if (others.length === 0) alone.set(segment, first);
    else invalid.push(first, ...others);
  }
  for (const [segment, spellings] of folders) {
    if (spellings.length <= maxFolderSpellings) continue;
    invalid.push(...spellings);
    folders.delete(segment);
  }
  return { leaves: alone, folders, invalid, skipped, files };
}

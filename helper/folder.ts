import { closeSync, opendirSync, type Dirent } from "node:fs";
import { atSelf } from "../contract/at.ts";
import {
  judgeFolder,
  type EntryType,
  type FolderEntry,
  type FolderVerdict,
} from "../contract/folder-rules.ts";
import { workflowFolder } from "../contract/layout.ts";
import { openFolderAt, type MountId } from "./descriptors.ts";
import type { EntryBudget } from "./entry-budget.ts";
import type { Obstacle } from "./obstacle.ts";
import { judgeWorkflowFolder } from "./workflow-rules.ts";

/** An entry whose `origin` is the descriptor of the folder that holds it. */
export type Entry = FolderEntry<number>;

/** `root` holds the steps' folders, `workflow` the flat inputs, `step` is everything else. */
type FolderKind = "root" | "workflow" | "step";

/**
 * One folder as keys see it, open: folders whose names fold together are one (WV-2), so it has as many descriptors as spellings. None
 * are left where all of them vanished or were swapped after listing; it is empty then.
 */
export class Folder {
  readonly kind: FolderKind;
  /** Segments from the root to this folder. */
  readonly depth: number;
  readonly mount: MountId;
  readonly fds: readonly number[];
  /** What some spelling of it turned out to be when it was opened. */
  readonly obstacle: Obstacle | undefined;

  constructor(
    kind: FolderKind,
    depth: number,
    mount: MountId,
    fds: readonly number[],
    obstacle?: Obstacle,
  ) {
    this.kind = kind;
    this.depth = depth;
    this.mount = mount;
    this.fds = fds;
    this.obstacle = obstacle;
  }

  /** What its entries are, by the rules of its kind. Throws the budget's error past its limit. */
  list(budget: EntryBudget): FolderVerdict<number> {
    const entries: Entry[] = [];
    for (const fd of this.fds) {
      for (const { name, type } of listEntries(fd)) {
        budget.spend();
        entries.push({ name, type, origin: fd });
      }
    }
    return this.kind === "workflow"
      ? judgeWorkflowFolder(entries)
      : judgeFolder(entries, this.depth);
  }

  /** Opens a folder in this one, all its spellings, the lowercase one first; the caller closes it. */
  open(segment: string, spellings: readonly Entry[]): Folder {
    const ordered = [...spellings];
    ordered.sort((a, b) => Buffer.compare(b.name, a.name));
    const fds: number[] = [];
    let obstacle: Obstacle | undefined;
    try {
      for (const { name, origin } of ordered) {
        const fd = openFolderAt(origin, nameOf(name), this.mount);
        if (typeof fd === "number") fds.push(fd);
        else if (fd !== "absent") obstacle ??= fd;
      }
    } catch (error) {
      closeAll(fds);
      throw error;
    }
    const kind = this.kind === "root" && segment === workflowFolder ? "workflow" : "step";
    return new Folder(kind, this.depth + 1, this.mount, fds, obstacle);
  }

  close(): void {
    closeAll(this.fds);
  }
}

/** A name that passed the key rules is ASCII, so that this loses nothing. */
export function nameOf(name: Uint8Array): string {
  return Buffer.from(name).toString("latin1");
}

/** The entries of an open folder, their names as bytes, streamed: memory stays small for any number of them. */
export function* listEntries(
  fd: number,
): Generator<{ readonly name: Buffer; readonly type: EntryType }, void, undefined> {
  // latin1 keeps each byte of a name as one character.
  const dir = opendirSync(atSelf(fd), { encoding: "latin1", bufferSize: 256 });
  try {
    for (let dirent = dir.readSync(); dirent !== null; dirent = dir.readSync()) {
      yield { name: Buffer.from(dirent.name, "latin1"), type: typeOf(dirent) };
    }
  } finally {
    dir.closeSync();
  }
}

function typeOf(dirent: Dirent): EntryType {
  if (dirent.isFile()) return "file";
  if (dirent.isDirectory()) return "folder";
  if (dirent.isSymbolicLink()) return "symlink";
  if (dirent.isFIFO()) return "fifo";
  return dirent.isSocket() ? "socket" : "device";
}

function closeAll(fds: readonly number[]): void {
  for (const fd of fds) closeSync(fd);
}

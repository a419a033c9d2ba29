import {
  chmodSync,
  closeSync,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readFileSync,
  type Stats,
} from "node:fs";
import { at, atSelf } from "../contract/at.ts";
import { maxSegments } from "../contract/key.ts";
import { openFlags } from "./open-flags.ts";
import { openFolder } from "./own-folder.ts";

/**
 * Makes what the agent wrote readable for the sidecar's uid (WV-15): adds 0444 to files, 0555 to folders, as
 * far as the pack would walk. The agent's processes may still be there and swap names, so a mode is only ever
 * changed through a descriptor whose type was looked at: `O_PATH|O_NOFOLLOW` opens even a mode 0000 entry,
 * and `chmod` on `/proc/self/fd/<n>` means that entry alone. Links are never followed, other mounts never
 * entered, dotfiles, which no pack takes, left as they are.
 */

const fileBits = 0o444;
const folderBits = 0o555;

export interface Readability {
  /** Entries that stayed as they were, because they belong to another uid or vanished. */
  readonly failed: number;
  /** True where the folder has more than `maxEntries` entries: the walk stopped there, as the pack will. */
  readonly truncated: boolean;
}

/**
 * `segments` is the own folder from the root. Bounded by `maxEntries`, counted over all folders. Never
 * throws: the agent owns this folder.
 */
export function makeReadable(
  rootFd: number,
  segments: readonly string[],
  maxEntries: number,
): Readability {
  const walk: Walk = { left: maxEntries, failed: 0, truncated: false };
  try {
    const fd = openFolder(rootFd, segments);
    try {
      walkFolder(walk, fd, segments.length, mountOf(rootFd));
    } finally {
      closeSync(fd);
    }
  } catch {
    walk.failed += 1;
  }
  return { failed: walk.failed, truncated: walk.truncated };
}

interface Walk {
  left: number;
  failed: number;
  truncated: boolean;
}

/** `depth` is the folder's own number of segments, counted from the root. */
function walkFolder(walk: Walk, folderFd: number, depth: number, mount: string): void {
  if (mountOf(folderFd) !== mount) return;
  addMode(folderFd, fstatSync(folderFd), folderBits);
  // Latin-1 keeps every byte of a name.
  const folder = opendirSync(atSelf(folderFd), { encoding: "latin1" });
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (walk.left === 0) {
        walk.truncated = true;
        return;
      }
      walk.left -= 1;
      if (entry.name.startsWith(".")) continue;
      try {
        openUp(walk, at(folderFd, Buffer.from(entry.name, "latin1")), depth + 1, mount);
      } catch {
        walk.failed += 1;
      }
    }
  } finally {
    folder.closeSync();
  }
}

function openUp(walk: Walk, path: Buffer, depth: number, mount: string): void {
  // Most files are readable already: one call instead of four. What it says is trusted for nothing else.
  const listed = lstatSync(path);
  const mayEnter = listed.isDirectory() && depth < maxSegments;
  if (!mayEnter && !(listed.isFile() && !hasBits(listed, fileBits))) return;
  const fd = openSync(path, openFlags.path);
  try {
    const opened = fstatSync(fd);
    if (opened.isFile()) addMode(fd, opened, fileBits);
    else if (opened.isDirectory() && mayEnter) walkFolder(walk, fd, depth, mount);
  } finally {
    closeSync(fd);
  }
}

function addMode(fd: number, stats: Stats, bits: number): void {
  if (!hasBits(stats, bits)) chmodSync(atSelf(fd), (stats.mode & 0o7777) | bits);
}

function hasBits(stats: Stats, bits: number): boolean {
  return (stats.mode & bits) === bits;
}

/** The mount that a descriptor belongs to; `st_dev` does not tell bind mounts apart. */
function mountOf(fd: number): string {
  const info = readFileSync(`/proc/self/fdinfo/${String(fd)}`, "latin1");
  const [, id] = /^mnt_id:\t(\d+)$/m.exec(info) ?? [];
  if (id === undefined) throw new Error("the kernel does not tell the mount");
  return id;
}

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { at } from "../contract/at.ts";
import { obstacleOf, type Obstacle } from "./obstacle.ts";
import { errnoOf, VariablesError } from "./variables-error.ts";

/**
 * Opening what stands in a folder that anyone may rewrite meanwhile (WV-11, WV-13): always relative to the parent's descriptor, never
 * through a link, and a file is believed to be one only after `fstat` on its own descriptor.
 */

/** Nothing stands there, or something that is never gone into. */
export type Refusal = "absent" | Obstacle;

/** Identifies the mount a folder is on; undefined where the kernel's fdinfo does not tell (gVisor). */
export type MountId = string | undefined;

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// O_NONBLOCK: a FIFO put where a file was would otherwise hold the open until a writer comes.
const fileFlags =
  constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

const fileRefusals: ReadonlyMap<string | undefined, Refusal> = new Map([
  ["ENOENT", "absent"],
  // O_NOFOLLOW met a link; a socket; a device without a driver.
  ["ELOOP", "symlink"],
  ["ENXIO", "socket"],
  ["ENODEV", "device"],
]);
const folderRefusals: ReadonlyMap<string | undefined, Refusal> = new Map([
  ...fileRefusals,
  // Whatever is no folder, links included.
  ["ENOTDIR", "odd"],
  // One closed folder does not stop work on the others; the pack passes it over too.
  ["EACCES", "closed"],
]);

/** Of a folder: `pos`, `flags`, `mnt_id`, `ino`; the kernel gives it whole to one read. */
const fdinfoBuffer = Buffer.allocUnsafeSlow(1024);

/** Opens a folder by its path; the caller closes it. Only for the root: everything below goes through its descriptor. */
export function openFolder(path: string): number | Refusal {
  return named(
    path,
    refusing(folderRefusals, () => openSync(path, folderFlags)),
  );
}

/** Opens a folder in a folder, if it is on the given mount; the caller closes it. */
export function openFolderAt(dirFd: number, name: string, mount: MountId): number | Refusal {
  const fd = refusing(folderRefusals, () => openPlainFolder(dirFd, name));
  if (typeof fd !== "number") return named(at(dirFd, name), fd);
  return keepIf(fd, () => mountOf(fd) === mount) ?? "mount";
}

/** Opens a regular file in a folder; the caller closes it. */
export function openFileAt(dirFd: number, name: string): number | Refusal {
  const fd = refusing(fileRefusals, () => openAnything(dirFd, name));
  if (typeof fd !== "number") return fd;
  let obstacle: Obstacle = "odd";
  const isFile = (): boolean => {
    const stats = fstatSync(fd);
    obstacle = obstacleOf(stats);
    return stats.isFile();
  };
  return keepIf(fd, isFile) ?? obstacle;
}

/** Opens a folder in a folder, on whatever mount; the caller closes it. Throws the kernel's own error. */
export function openPlainFolder(dirFd: number, name: string): number {
  return openSync(at(dirFd, name), folderFlags);
}

/** Opens what is no link, whatever else it is, and never blocks; the caller asks `fstat` what came. Throws the kernel's own error. */
export function openAnything(dirFd: number, name: string): number {
  return openSync(at(dirFd, name), fileFlags);
}

/** Throws `unsafe_path` without `/proc`: then no path below a descriptor would resolve, and every value would look absent. */
export function mountOf(fd: number): MountId {
  let fdinfo: string;
  try {
    fdinfo = withFd(openSync(`/proc/self/fdinfo/${String(fd)}`, constants.O_RDONLY), (infoFd) =>
      fdinfoBuffer.toString("latin1", 0, readSync(infoFd, fdinfoBuffer)),
    );
  } catch (error) {
    throw new VariablesError(
      "unsafe_path",
      "/proc is not there, and without it variables cannot be opened safely: mount it",
      { cause: error },
    );
  }
  return /^mnt_id:\s*(\d+)$/m.exec(fdinfo)?.[1];
}

/** Closes the descriptor whatever `use` does. */
export function withFd<T>(fd: number, use: (fd: number) => T): T {
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

function refusing(
  refusals: ReadonlyMap<string | undefined, Refusal>,
  open: () => number,
): number | Refusal {
  try {
    return open();
  } catch (error) {
    const refusal = refusals.get(errnoOf(error));
    if (refusal === undefined) throw error;
    return refusal;
  }
}

/** What is no folder, by what it is now: for a message, and nothing more may be made of it. */
function named(path: string, fd: number | Refusal): number | Refusal {
  return fd === "odd" ? obstacleOf(lstatSync(path, { throwIfNoEntry: false })) : fd;
}

function keepIf(fd: number, isWanted: () => boolean): number | undefined {
  let keep = false;
  try {
    keep = isWanted();
  } finally {
    if (!keep) closeSync(fd);
  }
  return keep ? fd : undefined;
}

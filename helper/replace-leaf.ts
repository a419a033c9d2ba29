import { constants, fchmodSync, mkdirSync, openSync, renameSync } from "node:fs";
import { at } from "../contract/at.ts";
import { openFolderAt, withFd, type MountId } from "./descriptors.ts";
import { nameOf } from "./folder.ts";
import type { LeafPlace } from "./leaf-place.ts";
import { unlinkIfThere } from "./unlink-if-there.ts";
import { errnoOf, VariablesError } from "./variables-error.ts";
import { writeAll } from "./write-all.ts";

/** Readable for the sidecar whatever the umask is and under another uid (WV-13). */
const leafMode = 0o644;
const folderMode = 0o755;
const temporaryFlags =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Temporary names that writers killed halfway may have left, under this process's recycled id. */
const maxTemporaries = 100;

/** Puts the bytes where the place says, all at once, and removes other spellings of the key. Makes the folders that are missing. */
export function replaceLeaf(place: LeafPlace, value: Uint8Array): void {
  const { folder, missing, name } = place;
  const [kept, ...others] = place.existing;
  if (kept !== undefined) replaceFile(kept.origin, nameOf(kept.name), value);
  else {
    const [dirFd] = folder.fds;
    if (dirFd === undefined) throw new RangeError("a place has an open folder");
    inFolders(dirFd, missing, folder.mount, (innerFd) => {
      replaceFile(innerFd, name, value);
    });
  }
  // Only now: the key is never without a value.
  for (const other of others) unlinkIfThere(other.origin, nameOf(other.name));
}

function inFolders(
  dirFd: number,
  names: readonly string[],
  mount: MountId,
  use: (fd: number) => void,
): void {
  const [name, ...rest] = names;
  if (name === undefined) use(dirFd);
  else
    withFd(makeFolder(dirFd, name, mount), (fd) => {
      inFolders(fd, rest, mount, use);
    });
}

/** Another writer may have made it just now. */
function makeFolder(dirFd: number, name: string, mount: MountId): number {
  let isNew = true;
  try {
    mkdirSync(at(dirFd, name), folderMode);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    isNew = false;
  }
  const fd = openFolderAt(dirFd, name, mount);
  if (typeof fd !== "number") {
    throw new VariablesError(
      "unsafe_path",
      `the folder ${name} was replaced while it was made: nothing was written`,
    );
  }
  // The umask may have taken bits away.
  if (isNew) fchmodSync(fd, folderMode);
  return fd;
}

function replaceFile(dirFd: number, name: string, value: Uint8Array): void {
  const temporary = createTemporary(dirFd);
  try {
    withFd(temporary.fd, (fd) => {
      writeAll(fd, value);
      fchmodSync(fd, leafMode);
    });
    renameSync(at(dirFd, temporary.name), at(dirFd, name));
  } catch (error) {
    unlinkIfThere(dirFd, temporary.name);
    throw error;
  }
}

/** A dotfile is no variable, so that no reader and no pack takes it for one (WV-1). */
function createTemporary(dirFd: number): { readonly name: string; readonly fd: number } {
  for (let n = 0; ; n += 1) {
    const name = `.wfvar-${String(process.pid)}-${String(n)}`;
    try {
      return { name, fd: openSync(at(dirFd, name), temporaryFlags, 0o600) };
    } catch (error) {
      if (errnoOf(error) !== "EEXIST" || n === maxTemporaries) throw error;
    }
  }
}

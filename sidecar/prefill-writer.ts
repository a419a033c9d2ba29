import {
  closeSync,
  constants,
  fchmodSync,
  mkdirSync,
  openSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { at } from "../contract/at.ts";
import { prefillFiles } from "../contract/layout.ts";
import { errnoOf, listFolder, openFolder, withFd } from "./descriptor.ts";
import { SidecarError } from "./sidecar-error.ts";

/**
 * Writes below the root through descriptors, never through a link (WV-1). Meant to run again in the same
 * volume: a folder of an earlier run is made writable again, a file or link in the way is replaced. `close`
 * gives the folders their final modes.
 */

const folderMode = 0o555;
const fileMode = 0o444;
/** While it is being filled. */
const openMode = 0o755;
const ownFolderMode = 0o777;
const dot = 0x2e;
const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

export class PrefillWriter {
  readonly #rootFd: number;
  /** By path joined with `/`; every folder that was made or entered. */
  readonly #folders = new Set<string>();
  readonly #files = new Set<string>();

  constructor(rootFd: number) {
    this.#rootFd = rootFd;
  }

  makeFolder(path: readonly string[]): void {
    this.#within(path, () => undefined);
  }

  /** Returns a descriptor to write to; the caller closes it. */
  createFile(path: readonly string[]): number {
    const name = path.at(-1) ?? "";
    this.#files.add(path.join("/"));
    return this.#within(path.slice(0, -1), (parentFd) => {
      removeTree(parentFd, Buffer.from(name));
      return withFdOnError(
        openSync(at(parentFd, name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, fileMode),
        (fd) => fchmodSync(fd, fileMode),
      );
    });
  }

  writeFile(path: readonly string[], bytes: Buffer): void {
    withFd(this.createFile(path), (fd) => writeAll(fd, bytes));
  }

  /**
   * Makes the own folder, open to the agent under any uid, and closes all others. Contents of the own folder
   * are left alone.
   */
  close(ownFolder: readonly string[]): void {
    this.makeFolder(ownFolder);
    const own = ownFolder.join("/");
    this.#removeStale([], own);
    for (const folder of this.#folders) {
      const mode = folder === own ? ownFolderMode : folderMode;
      this.#open(folder.split("/"), (fd) => fchmodSync(fd, mode));
    }
  }

  /**
   * What an earlier try or an earlier run of the pod left and this one did not bring: the agent would read it as if
   * it might (WV-9).
   */
  #removeStale(path: readonly string[], own: string): void {
    const inside: string[][] = [];
    this.#open(path, (fd) => {
      for (const { name } of listFolder(fd)) {
        const child = [...path, name.toString("latin1")];
        const joined = child.join("/");
        const isForeign = path.length === 0 && name[0] === dot && !prefillFiles.has(joined);
        if (isForeign || joined === own || this.#files.has(joined)) continue;
        if (this.#folders.has(joined)) inside.push(child);
        else removeTree(fd, name);
      }
    });
    for (const folder of inside) this.#removeStale(folder, own);
  }

  #within<T>(path: readonly string[], use: (fd: number) => T): T {
    for (let depth = 1; depth <= path.length; depth += 1) {
      const folder = path.slice(0, depth);
      const joined = folder.join("/");
      if (this.#folders.has(joined)) continue;
      this.#open(folder.slice(0, -1), (parentFd) => makeFolderAt(parentFd, folder.at(-1) ?? ""));
      this.#folders.add(joined);
    }
    return this.#open(path, use);
  }

  #open<T>(path: readonly string[], use: (fd: number) => T): T {
    let fd = this.#rootFd;
    try {
      for (const name of path) {
        const parent = fd;
        fd = openFolder(parent, name);
        if (parent !== this.#rootFd) closeSync(parent);
      }
      return use(fd);
    } finally {
      if (fd !== this.#rootFd) closeSync(fd);
    }
  }
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length;) offset += writeSync(fd, bytes, offset);
}

/** Runs something that touches the volume; its failure is this machine's, and no new try will mend it. */
export function onVolume<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "") throw error;
    throw new SidecarError("volume_unusable", `the volume cannot be written: ${errno}`, {
      cause: error,
    });
  }
}

/** Makes a folder, or opens up one of an earlier run; replaces a file or a link of that name. */
function makeFolderAt(parentFd: number, name: string): void {
  for (let again = true; ; again = false) {
    try {
      mkdirSync(at(parentFd, name), openMode);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
    try {
      withFd(openFolder(parentFd, name), (fd) => fchmodSync(fd, openMode));
      return;
    } catch (error) {
      if (!again || !["ENOTDIR", "ELOOP"].includes(errnoOf(error))) throw error;
      unlinkSync(at(parentFd, name));
    }
  }
}

/** Removes whatever bears the name, if anything does; never follows a link. */
function removeTree(parentFd: number, name: Buffer): void {
  try {
    unlinkSync(at(parentFd, name));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT") return;
    if (errno !== "EISDIR" && errno !== "EPERM") throw error;
    withFd(openFolder(parentFd, name), (fd) => {
      fchmodSync(fd, openMode);
      const names = Array.from(listFolder(fd), (entry) => entry.name);
      for (const inner of names) removeTree(fd, inner);
    });
    rmdirSync(at(parentFd, name));
  }
}

function withFdOnError(fd: number, use: (fd: number) => void): number {
  try {
    use(fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

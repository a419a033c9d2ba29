import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  opendirSync,
  readFileSync,
  type Stats,
} from "node:fs";
import { at, atSelf } from "../contract/at.ts";
import type { EntryType } from "../contract/folder-rules.ts";

/**
 * Opening below a folder that an attacker may change at any moment. Every component is opened relative to its
 * parent's descriptor with O_NOFOLLOW, so a link that is swapped in makes the open fail; what was opened is
 * then asked what it is. Stops: leaving the folder through a link at any level, blocking on a FIFO, crossing
 * into another mount.
 */

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** Names per getdents call; also what one listing holds ahead of the entry count. */
const listBatch = 256;

/**
 * Opens a folder by path; only its last component is protected, so this is for the root alone. Throws
 * ErrnoException.
 */
export function openRoot(path: string): number {
  return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/**
 * Opens `name` below `parentFd` as a folder. Throws ErrnoException: ELOOP or ENOTDIR where it is no longer
 * one.
 */
export function openFolder(parentFd: number, name: string | Buffer): number {
  const path = typeof name === "string" ? at(parentFd, name) : at(parentFd, name);
  return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/**
 * Opens `name` below `parentFd` for reading, whatever it is; never blocks. The caller asks `fstat` what came.
 * Throws ErrnoException.
 */
export function openLeaf(parentFd: number, name: string): number {
  return openSync(at(parentFd, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

/**
 * The mount that an open file belongs to. `st_dev` is equal across bind mounts and differs across overlay
 * layers: no use.
 */
export function mountOf(fd: number): string {
  const [, id] =
    /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${String(fd)}`, "latin1")) ?? [];
  if (id === undefined) throw new Error("/proc/self/fdinfo has no mnt_id");
  return id;
}

/** The names in an open folder, as bytes, streamed: memory stays small for any number of entries. */
export function* listFolder(fd: number): Generator<{ name: Buffer; type: EntryType }> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the declared type leaves "buffer" out
  const encoding = "buffer" as BufferEncoding;
  const dir = opendirSync(atSelf(fd), { encoding, bufferSize: listBatch });
  try {
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
      const name: unknown = entry.name;
      if (!Buffer.isBuffer(name)) throw new TypeError("a directory entry is not bytes");
      yield { name, type: typeOf(entry) ?? typeByStat(fd, name) };
    }
  } finally {
    dir.closeSync();
  }
}

/** What an opened or listed thing is; undefined where the file system does not say. */
export function typeOf(
  stats: Pick<
    Stats,
    | "isFile"
    | "isDirectory"
    | "isSymbolicLink"
    | "isFIFO"
    | "isSocket"
    | "isBlockDevice"
    | "isCharacterDevice"
  >,
): EntryType | undefined {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  if (stats.isSymbolicLink()) return "symlink";
  if (stats.isFIFO()) return "fifo";
  if (stats.isSocket()) return "socket";
  if (stats.isBlockDevice() || stats.isCharacterDevice()) return "device";
  return undefined;
}

/** Runs `use` with the descriptor and closes it whatever happens. */
export function withFd<T>(fd: number, use: (fd: number) => T): T {
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

/** True where descriptors can be reached through /proc; without it nothing here is safe. */
export function procWorks(fd: number): boolean {
  try {
    const direct = fstatSync(fd, { bigint: true });
    const through = withFd(openSync(atSelf(fd), O_RDONLY | O_DIRECTORY), (again) =>
      fstatSync(again, { bigint: true }),
    );
    return direct.ino === through.ino && direct.dev === through.dev && mountOf(fd) !== "";
  } catch {
    return false;
  }
}

export function errnoOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

/** A type to begin with; what is opened later is asked again. */
function typeByStat(fd: number, name: Buffer): EntryType {
  try {
    return typeOf(lstatSync(at(fd, name))) ?? "device";
  } catch {
    return "file";
  }
}

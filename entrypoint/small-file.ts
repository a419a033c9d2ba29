import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { at } from "../contract/at.ts";

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * The bytes of a regular file right under a folder, at most `maxBytes`; undefined where it is missing,
 * larger, a link, or no file at all. Never blocks, whatever stands under the name.
 */
export function readSmallFile(dirFd: number, name: string, maxBytes: number): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(at(dirFd, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch {
    return undefined;
  }
  try {
    if (!fstatSync(fd).isFile()) return undefined;
    const buffer = Buffer.alloc(maxBytes + 1);
    let size = 0;
    while (size < buffer.length) {
      const read = readSync(fd, buffer, size, buffer.length - size, null);
      if (read === 0) break;
      size += read;
    }
    return size > maxBytes ? undefined : buffer.subarray(0, size);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

import { writeSync } from "node:fs";

/** Writes all bytes from the file's beginning: the kernel may take them in parts. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(fd, bytes, written, bytes.length - written, written);
  }
}

import { writeSync } from "node:fs";
import { whenReady } from "./when-ready.ts";

/** Writes every byte: the system may take fewer at a time. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) {
    const offset = written;
    written += whenReady(() => writeSync(fd, bytes, offset));
  }
}

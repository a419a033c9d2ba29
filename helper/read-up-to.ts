import { fstatSync, readSync } from "node:fs";
import { whenReady } from "./when-ready.ts";

const minGrowthBytes = 65_536;

/** The bytes from where the descriptor stands to its end, but at most `maxBytes`. Takes files, pipes and sockets. */
export function readUpTo(fd: number, maxBytes: number): Buffer {
  // One byte more than a file says it has, so that the read after it meets the end without growing.
  let buffer: Buffer = Buffer.allocUnsafe(Math.min(fstatSync(fd).size + 1, maxBytes));
  let length = 0;
  while (length < maxBytes) {
    if (length === buffer.length) buffer = grown(buffer, maxBytes);
    const offset = length;
    const count = whenReady(() => readSync(fd, buffer, offset, buffer.length - offset, null));
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

function grown(buffer: Buffer, maxBytes: number): Buffer {
  const larger = Buffer.allocUnsafe(
    Math.min(Math.max(buffer.length * 2, minGrowthBytes), maxBytes),
  );
  buffer.copy(larger);
  return larger;
}

import { isUtf8 } from "node:buffer";
import { fstatSync, readSync } from "node:fs";
import type { RejectCode, SkipCode } from "../../contract/codes.ts";
import { afterFailedOpen, hasChanged } from "../../contract/leaf-rules.ts";
import { errnoOf, openLeaf, typeOf, withFd } from "../descriptor.ts";

/** One value's bytes, or why there are none (WV-4, WV-11). */
export type Leaf =
  | { readonly bytes: Buffer }
  | { readonly rejected: RejectCode; readonly size?: number }
  | { readonly skipped: SkipCode };

/**
 * Reads the file `name` below `parentFd`, at most `maxBytes`. The file may be replaced, grow or shrink
 * meanwhile: what was opened must be a regular file, and size and times must be the same before and after the
 * read.
 */
export function readLeaf(parentFd: number, name: string, maxBytes: number): Leaf {
  let fd: number;
  try {
    fd = openLeaf(parentFd, name);
  } catch (error) {
    return afterFailedOpen(errnoOf(error));
  }
  return withFd(fd, () => {
    const before = fstatSync(fd);
    const type = typeOf(before);
    if (type === "fifo") return { skipped: "skipped_fifo" };
    if (type === "device") return { skipped: "skipped_device" };
    if (type !== "file") return { rejected: "changed_while_reading" };
    const { size } = before;
    if (size > maxBytes) return { rejected: "value_too_large", size };
    let bytes: Buffer | undefined;
    try {
      bytes = readExactly(fd, size);
    } catch {
      return { rejected: "unreadable", size };
    }
    if (bytes === undefined || hasChanged(before, fstatSync(fd))) {
      return { rejected: "changed_while_reading" };
    }
    return isUtf8(bytes) ? { bytes } : { rejected: "invalid_output_value", size };
  });
}

/** The whole file where it still has `size` bytes; one byte of room shows that it has grown. */
function readExactly(fd: number, size: number): Buffer | undefined {
  const buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  while (length < size) {
    const got = readSync(fd, buffer, length, size + 1 - length, null);
    if (got === 0) break;
    length += got;
  }
  return length === size ? buffer.subarray(0, size) : undefined;
}

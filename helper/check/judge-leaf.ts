import { fstatSync } from "node:fs";
import type { RejectCode, SkipCode } from "../../contract/codes.ts";
import { afterFailedOpen, hasChanged } from "../../contract/leaf-rules.ts";
import { openAnything, withFd } from "../descriptors.ts";
import { readUpTo } from "../read-up-to.ts";
import { isUtf8 } from "../value.ts";
import { errnoOf } from "../variables-error.ts";

/** What a pack would make of a listed file (WV-4, WV-11); sizes in bytes. */
export type LeafState =
  | { readonly size: number }
  | { readonly rejected: Exclude<RejectCode, "invalid_output_key">; readonly size?: number }
  | { readonly skipped: SkipCode };

/** Reads the file, at most `maxBytes`, because only its bytes say whether it is UTF-8. */
export function judgeLeaf(dirFd: number, name: string, maxBytes: number): LeafState {
  let fd: number;
  try {
    fd = openAnything(dirFd, name);
  } catch (error) {
    return afterFailedOpen(errnoOf(error));
  }
  return withFd(fd, () => {
    const before = fstatSync(fd);
    if (before.isFIFO()) return { skipped: "skipped_fifo" };
    if (before.isCharacterDevice() || before.isBlockDevice()) return { skipped: "skipped_device" };
    if (!before.isFile()) return { rejected: "changed_while_reading" };
    const { size } = before;
    if (size > maxBytes) return { rejected: "value_too_large", size };
    let bytes: Buffer;
    try {
      bytes = readUpTo(fd, size + 1);
    } catch {
      return { rejected: "unreadable", size };
    }
    if (bytes.length !== size || hasChanged(before, fstatSync(fd))) {
      return { rejected: "changed_while_reading" };
    }
    return isUtf8(bytes) ? { size } : { rejected: "invalid_output_value", size };
  });
}

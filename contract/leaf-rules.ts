import type { Stats } from "node:fs";
import type { RejectCode, SkipCode } from "./codes.ts";

/** What becomes of a listed file that could not be read as a value (WV-11), to the pack and to whoever foretells it. */

export type UnopenedLeaf =
  | { readonly rejected: Extract<RejectCode, "changed_while_reading" | "unreadable"> }
  | { readonly skipped: Extract<SkipCode, "skipped_symlink" | "skipped_socket"> };

/** By the errno of an open with O_NOFOLLOW and O_NONBLOCK; undefined or empty for no errno. */
export function afterFailedOpen(errno: string | undefined): UnopenedLeaf {
  switch (errno) {
    case "ELOOP":
      return { skipped: "skipped_symlink" };
    case "ENXIO":
      return { skipped: "skipped_socket" };
    case "ENOENT":
      return { rejected: "changed_while_reading" };
    default:
      // EACCES, EPERM, a leased file's EWOULDBLOCK, EMFILE, EIO: there, and not to be had.
      return { rejected: "unreadable" };
  }
}

/** Whether a file was written to between two looks at its descriptor. */
export function hasChanged(before: Stats, after: Stats): boolean {
  return (
    before.size !== after.size ||
    before.mtimeMs !== after.mtimeMs ||
    before.ctimeMs !== after.ctimeMs
  );
}

import { constants } from "node:fs";

/** Linux, x64 and arm64; Node has no name for it. */
const O_PATH = 0o10000000;

/** How the own folder's entries are opened: never through a link on the last name. */
export const openFlags = {
  /** The entry itself, whatever its mode or type; nothing can be read or written through it. */
  path: O_PATH | constants.O_NOFOLLOW,
} as const;

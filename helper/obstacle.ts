import type { Stats } from "node:fs";
import { maxFolderSpellings } from "../contract/folder-rules.ts";
import { VariablesError } from "./variables-error.ts";

/** What keys never go through (WV-11): `odd` is no folder, or no plain file, whatever else it is. */
export type Obstacle =
  | "symlink"
  | "fifo"
  | "socket"
  | "device"
  | "mount"
  | "closed"
  | "spellings"
  | "odd";

const onlyPlain = "and only plain files and folders are gone into";

/** Completes the name of what stands in the way. */
export const obstacleTexts: Readonly<Record<Obstacle, string>> = {
  symlink: "is a symbolic link, and links are never followed",
  fifo: `is a pipe, ${onlyPlain}`,
  socket: `is a socket, ${onlyPlain}`,
  device: `is a device, ${onlyPlain}`,
  mount: "is another mount, and no other mount is gone into",
  closed: "is a folder that is closed to this user",
  spellings: `has more than ${String(maxFolderSpellings)} spellings, and no more are merged`,
  odd: "is of another kind than its place asks for",
};

/** `unsafe_path` of a key that the obstacle bars: in its own place, or in that of a folder on the way. */
export function barred(
  key: string,
  folder: string | undefined,
  obstacle: Obstacle,
  remedy: string,
): VariablesError {
  const which = folder === undefined ? key : `${key} lies behind ${folder}, which`;
  return new VariablesError("unsafe_path", `${which} ${obstacleTexts[obstacle]}: ${remedy}`, {
    key,
  });
}

export function obstacleOf(stats: Stats | undefined): Obstacle {
  if (stats?.isSymbolicLink() === true) return "symlink";
  if (stats?.isFIFO() === true) return "fifo";
  if (stats?.isSocket() === true) return "socket";
  return stats?.isCharacterDevice() === true || stats?.isBlockDevice() === true ? "device" : "odd";
}

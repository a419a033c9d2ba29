import { closeSync, constants, openSync } from "node:fs";
import { at } from "../contract/at.ts";
import { rootFiles, selfVariable, stepPathOfSelf } from "../contract/layout.ts";
import { EntrypointError, errnoOf } from "./entrypoint-error.ts";
import { openFlags } from "./open-flags.ts";
import { readSmallFile } from "./small-file.ts";

/** PATH_MAX. */
const maxPathBytes = 4096;

/**
 * The own folder's names from the root, `["review-loop_2", "judge"]`: from the environment, else from `.self`
 * (WV-1). The folder must be there, reached through folders alone. Throws `own_folder_missing`.
 */
export function findOwnFolder(
  rootFd: number,
  root: string,
  self: string | undefined,
): readonly string[] {
  const path = self ?? readSmallFile(rootFd, rootFiles.self, maxPathBytes)?.toString("utf8");
  if (path === undefined) {
    const message = `neither ${selfVariable} nor ${rootFiles.self} names the own folder`;
    throw new EntrypointError("own_folder_missing", message);
  }
  const segments = stepPathOfSelf(root, path)?.segments;
  if (segments === undefined) {
    const message = `${selfVariable} or ${rootFiles.self} is not a step's folder under ${root}`;
    throw new EntrypointError("own_folder_missing", message);
  }
  try {
    closeSync(openFolder(rootFd, segments));
  } catch (error) {
    const message = `the own folder ${segments.join("/")} is not there: ${errnoOf(error)}`;
    throw new EntrypointError("own_folder_missing", message, { cause: error });
  }
  return segments;
}

/**
 * A path-only descriptor of a folder, reached name by name and never through a link. Throws the errno of the
 * name that fails.
 */
export function openFolder(dirFd: number, segments: readonly string[]): number {
  const [first, ...rest] = segments;
  if (first === undefined) throw new RangeError("a folder has a name");
  const fd = openSync(at(dirFd, first), openFlags.path | constants.O_DIRECTORY);
  if (rest.length === 0) return fd;
  try {
    return openFolder(fd, rest);
  } finally {
    closeSync(fd);
  }
}

import { closeSync } from "node:fs";
import type { StepPath } from "../../contract/ids.ts";
import { errnoOf, listFolder, mountOf, openFolder } from "../descriptor.ts";

/**
 * The own folder's descriptor, opened component by component from the root; `missing` where it is not there,
 * or a file, a link or another mount stands in its place, `unreadable` where it may not be opened. The caller
 * closes it.
 */
export function openOwnFolder(rootFd: number, step: StepPath): number | "missing" | "unreadable" {
  let fd = rootFd;
  for (const segment of step.segments) {
    const parent = fd;
    try {
      fd = openFolder(parent, segment);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === "") throw error;
      return ["ENOENT", "ENOTDIR", "ELOOP"].includes(errno) ? "missing" : "unreadable";
    } finally {
      if (parent !== rootFd) closeSync(parent);
    }
  }
  if (mountOf(fd) === mountOf(rootFd)) return fd;
  closeSync(fd);
  return "missing";
}

/**
 * What stands where no variable can: anything but folders and dotfiles at the root, or beside the own folder
 * of a loop step. Paths are relative to the root. Looks at `maxEntries` entries of each folder and no more.
 */
export function findStrays(rootFd: number, step: StepPath, maxEntries: number): Buffer[] {
  const strays = straysIn(rootFd, "", maxEntries);
  const [loopFolder] = step.segments;
  if (step.loop === undefined) return strays;
  let fd: number;
  try {
    fd = openFolder(rootFd, loopFolder);
  } catch (error) {
    if (errnoOf(error) === "") throw error;
    return strays;
  }
  try {
    return [...strays, ...straysIn(fd, `${loopFolder}/`, maxEntries)];
  } finally {
    closeSync(fd);
  }
}

function straysIn(fd: number, prefix: string, maxEntries: number): Buffer[] {
  const strays: Buffer[] = [];
  let seen = 0;
  try {
    for (const { name, type } of listFolder(fd)) {
      seen += 1;
      if (seen > maxEntries) break;
      if (type !== "folder" && name[0] !== 0x2e) {
        strays.push(Buffer.concat([Buffer.from(prefix), name]));
      }
    }
  } catch (error) {
    // A root that the agent closed hides its strays, and no more.
    if (errnoOf(error) === "") throw error;
  }
  return strays;
}

import { closeSync } from "node:fs";
import type { StepPath } from "../../contract/ids.ts";
import { errnoOf, listFolder, mountOf, openFolder } from "../descriptor.ts";

/**
 * The own folder's descriptor, opened component by component from the root; undefined where it is missing, or where a file, a link or another mount
 * stands in its place. The caller closes it.
 */
export function openOwnFolder(rootFd: number, step: StepPath): number | undefined {
  let fd: number | undefined;
  for (const segment of step.segments) {
    const parent: number = fd ?? rootFd;
    try {
      fd = openFolder(parent, segment);
    } catch (error) {
      if (errnoOf(error) === "") throw error;
      fd = undefined;
    } finally {
      if (parent !== rootFd) closeSync(parent);
    }
    if (fd === undefined) return undefined;
  }
  if (fd !== undefined && mountOf(fd) !== mountOf(rootFd)) {
    closeSync(fd);
    return undefined;
  }
  return fd;
}

/**
 * What stands where no variable can: anything but folders and dotfiles at the root, or beside the own folder of a loop step. Paths are relative to the root. Looks
 * at `maxEntries` entries of each folder and no more.
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
  for (const { name, type } of listFolder(fd)) {
    seen += 1;
    if (seen > maxEntries) break;
    if (type !== "folder" && name[0] !== 0x2e)
      strays.push(Buffer.concat([Buffer.from(prefix), name]));
  }
  return strays;
}

import { unlinkSync } from "node:fs";
import { at } from "../contract/at.ts";
import { errnoOf } from "./variables-error.ts";

/** Removes a name from an open folder. Another writer may have done so just now: that is no failure. */
export function unlinkIfThere(dirFd: number, name: string): void {
  try {
    unlinkSync(at(dirFd, name));
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

import { lstatSync } from "node:fs";
import { at } from "../contract/at.ts";
import { nameOf, type Entry } from "./folder.ts";
import { errnoOf } from "./variables-error.ts";

/** Bytes of a listed file, without opening it; undefined where it is no plain file any more, or in a folder that shows names alone. */
export function fileSize(entry: Entry): number | undefined {
  try {
    const stats = lstatSync(at(entry.origin, nameOf(entry.name)), { throwIfNoEntry: false });
    return stats?.isFile() === true ? stats.size : undefined;
  } catch (error) {
    // Mode 0444: it may be listed, not searched.
    if (errnoOf(error) === "EACCES") return undefined;
    throw error;
  }
}

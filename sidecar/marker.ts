import { fstatSync, readSync } from "node:fs";
import { rootFiles } from "../contract/layout.ts";
import { maxMarkerBytes } from "../contract/limits.ts";
import { parseMarker, type Marker } from "../contract/marker.ts";
import { errnoOf, openLeaf, withFd } from "./descriptor.ts";

/**
 * Reads `.done` (WV-6). Undefined where there is none; null where something stands there that is no marker:
 * the step is over all the same.
 */
export function readMarker(rootFd: number): Marker | null | undefined {
  let fd: number;
  try {
    fd = openLeaf(rootFd, rootFiles.done);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (errnoOf(error) === "") throw error;
    return null;
  }
  return withFd(fd, () => {
    if (!fstatSync(fd).isFile()) return null;
    const buffer = Buffer.alloc(maxMarkerBytes + 1);
    let length = 0;
    try {
      for (let got = -1; got !== 0 && length < buffer.length; length += got) {
        got = readSync(fd, buffer, length, buffer.length - length, null);
      }
    } catch {
      return null;
    }
    return parseMarker(buffer.subarray(0, length)) ?? null;
  });
}

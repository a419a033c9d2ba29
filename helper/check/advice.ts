import { escapePath } from "../../contract/escape.ts";
import { maxFolderSpellings } from "../../contract/folder-rules.ts";
import { foldNameBytes, maxSegmentBytes, maxSegments } from "../../contract/key.ts";
import { withoutExtension } from "../file-extension.ts";
import { nameOf, type Entry } from "../folder.ts";

/** Why an entry that a folder's rules call invalid is so, and what to do. `depth` is that of its folder. */
export function adviceOnName({ name, type }: Entry, depth: number): string {
  if (foldNameBytes(name) === undefined) return adviceOnBadName(name);
  const deepest = type === "file" ? maxSegments : maxSegments - 1;
  if (depth + 1 > deepest) {
    return `a key has at most ${String(maxSegments)} segments, the step's own among them: move it up`;
  }
  return type === "file"
    ? "several files differ only in case: keep one of them"
    : `more than ${String(maxFolderSpellings)} folders differ only in case: merge them`;
}

/** Of a leaf whose uppercase name is that of a folder with values in it (WV-2). */
export const adviceOnShadow =
  "a folder has the same name and no letter case tells them apart: rename one of them";

function adviceOnBadName(name: Buffer): string {
  const [bare] = withoutExtension(nameOf(name).toLowerCase().split(".")) ?? [];
  if (bare !== undefined && foldNameBytes(Buffer.from(bare)) !== undefined) {
    return `names hold no dot: drop the extension and call it ${escapePath(Buffer.from(bare.toUpperCase()))}`;
  }
  return `names are letters, digits, - and _, at most ${String(maxSegmentBytes)}, and start with a letter or digit: rename it`;
}

import type { PackCode, RejectCode, SkipCode } from "../../contract/codes.ts";
import { escapePath } from "../../contract/escape.ts";
import { maxFolderSpellings } from "../../contract/folder-rules.ts";
import { foldNameBytes, maxSegmentBytes, maxSegments } from "../../contract/key.ts";
import { withoutExtension } from "../file-extension.ts";
import { nameOf, type Entry } from "../folder.ts";

/** What to do about an issue, by its code. Never quotes a value. */
export const advice = {
  value_too_large: "shorten it or split it over several keys",
  invalid_output_value: "it is not UTF-8: encode it as UTF-8, binary data as base64",
  changed_while_reading: "something is still writing it: check again when that is done",
  unreadable: "this user may not open it: give files mode 0644 and folders 0755",
  step_entries_exceeded: "no value is accepted while there are more entries: remove some",
  step_files_exceeded: "no value is accepted while there are more files: remove some",
  step_bytes_exceeded: "no value is accepted while they have more bytes in all: remove some",
  skipped_symlink: "links are never followed: put a plain file there",
  skipped_fifo: "only plain files are values: write one, or remove it",
  skipped_socket: "only plain files are values: write one, or remove it",
  skipped_device: "only plain files are values: write one, or remove it",
  skipped_dotfile: "no name that starts with a dot is a variable: rename it if it is to be one",
  skipped_mount: "no other mount is gone into: copy its files here",
  marker_invalid: "the entrypoint alone writes .done: remove it",
  own_folder_missing: "make it again: everything that stands in it is collected",
  stray_at_root: "nothing is collected beside the own folder: move it there",
} as const satisfies Record<
  Exclude<RejectCode, "invalid_output_key"> | PackCode | SkipCode,
  string
>;

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

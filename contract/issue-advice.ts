import type { PackCode, RejectCode, SkipCode } from "./codes.ts";
import { maxSegmentBytes } from "./key.ts";

/** What to do about an issue, by its code. Never quotes a value. */
export const issueAdvice: Readonly<Record<RejectCode | PackCode | SkipCode, string>> = {
  invalid_output_key: `names are letters, digits, - and _, at most ${String(maxSegmentBytes)}, start with a letter or digit, and differ in more than case: rename it`,
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
};

import { listKeys } from "./keys.ts";
import { findValue, loadValue } from "./load.ts";
import { saveValue } from "./save.ts";
import type { Env } from "./step.ts";
import { encodeValue } from "./value.ts";
import { VariablesError } from "./variables-error.ts";

/**
 * Workflow variables for agents in JavaScript (WV-13): read what the run and earlier steps left, write this step's outputs.
 * Synchronous, and nothing happens before the first call.
 */

export type { HelperCode } from "../contract/codes.ts";
export { VariablesError };

/**
 * The value of a variable, exactly as it was saved. The key is any case; own variables are looked for first, then those of other steps and
 * `workflow.…` from the root. Throws VariablesError: `not_found` unless a default is given, `invalid_key`, `ambiguous_key`,
 * `value_too_large`, `invalid_value`, `no_variables`, `unsafe_path`, `io_error`.
 */
export function load(key: string, defaultValue?: string): string {
  mustBeText(key, "invalid_key", "the key");
  if (defaultValue === undefined) return loadValue(environment(), key).text;
  return findValue(environment(), key)?.text ?? defaultValue;
}

/**
 * Writes a variable into the step's own folder, atomically and byte for byte. Throws VariablesError: `invalid_key`, `invalid_value`,
 * `value_too_large`, `step_files_exceeded`, `step_bytes_exceeded`, `step_entries_exceeded`, `outside_own_step`, `no_variables`,
 * `unsafe_path`, `disk_full`, `io_error`.
 */
export function save(key: string, value: string): void {
  mustBeText(key, "invalid_key", "the key");
  mustBeText(value, "invalid_value", "the value");
  saveValue(environment(), key, encodeValue(value));
}

/**
 * Keys, sorted. `keys()` gives the step's own, relative; `keys("judge.")` every visible one that starts so, in any case; `keys("")` all. `load` loads
 * whatever is listed. Throws VariablesError: `invalid_key` for what is no string, `step_entries_exceeded`, `no_variables`, `unsafe_path`, `io_error`.
 */
export function keys(prefix?: string): string[] {
  if (prefix !== undefined) mustBeText(prefix, "invalid_key", "the prefix");
  return listKeys(environment(), prefix).map(({ key }) => key);
}

function environment(): Env {
  // oxlint-disable-next-line node/no-process-env -- the two paths of WV-1, read at each call; nothing passes them to a library
  return process.env;
}

/** Callers in plain JavaScript may give anything; a number or an object must not be saved as its text. */
function mustBeText(given: unknown, code: "invalid_key" | "invalid_value", what: string): void {
  if (typeof given !== "string") {
    const kind = given === null ? "null" : typeof given;
    throw new VariablesError(code, `${what} must be a string, not ${kind}`);
  }
}

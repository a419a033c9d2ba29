/**
 * Workflow variables for agents: read what the run and earlier steps left, write this step's outputs.
 * Synchronous; nothing happens before the first call. Ships as `index.d.ts` beside the library and stands
 * alone, so that it needs nothing but TypeScript; a test holds it to the sources.
 */

/** Why a call was refused; `VariablesError.code`. */
export type HelperCode =
  /** No variable has that key, and no default was given. */
  | "not_found"
  | "invalid_key"
  /** Several files spell the key and differ only in case. */
  | "ambiguous_key"
  /** Not a string, or not to be had in UTF-8. */
  | "invalid_value"
  /** The command line alone. */
  | "usage"
  | "value_too_large"
  | "step_entries_exceeded"
  | "step_files_exceeded"
  | "step_bytes_exceeded"
  /** A write to another folder than the step's own. */
  | "outside_own_step"
  /** Not inside a step: no root, no own folder, or nothing that names it. */
  | "no_variables"
  /** A link, a pipe, a device, another mount or a closed folder in the way. */
  | "unsafe_path"
  | "disk_full"
  | "io_error";

/** What calls throw. The message is for a person and never holds a value. */
export declare class VariablesError extends Error {
  constructor(
    code: HelperCode,
    message: string,
    details?: {
      readonly key?: string | undefined;
      readonly size?: number | undefined;
      readonly limit?: number | undefined;
      readonly cause?: unknown;
    },
  );
  readonly name: "VariablesError";
  readonly code: HelperCode;
  /** The key in question, lowercase. */
  readonly key: string | undefined;
  /** Bytes, files or entries, whichever the code counts. */
  readonly size: number | undefined;
  readonly limit: number | undefined;
}

/**
 * The value of a variable, exactly as it was saved. The key is in any case: own variables are looked for
 * first, then those of other steps and `workflow.…`. Throws VariablesError: `not_found` unless a default is
 * given, `invalid_key`, `ambiguous_key`, `value_too_large`, `invalid_value`, `no_variables`, `unsafe_path`,
 * `io_error`.
 */
export declare function load(key: string, defaultValue?: string): string;

/**
 * Writes a variable into the step's own folder, atomically and byte for byte. Throws VariablesError:
 * `invalid_key`, `invalid_value`, `value_too_large`, `step_files_exceeded`, `step_bytes_exceeded`,
 * `step_entries_exceeded`, `outside_own_step`, `no_variables`, `unsafe_path`, `disk_full`, `io_error`.
 */
export declare function save(key: string, value: string): void;

/**
 * Keys, sorted. `keys()` gives the step's own, relative; `keys("judge.")` every visible one that starts so, in
 * any case; `keys("")` all. `load` loads whatever is listed. Throws VariablesError: `invalid_key`, `step_entries_exceeded`,
 * `no_variables`, `unsafe_path`, `io_error`.
 */
export declare function keys(prefix?: string): string[];

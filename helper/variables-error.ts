import type { HelperCode } from "../contract/codes.ts";

export interface VariablesErrorDetails {
  /** The key in question, checked and lowercased. */
  readonly key?: string | undefined;
  /** Bytes, files or entries, whichever the code counts. */
  readonly size?: number | undefined;
  readonly limit?: number | undefined;
  readonly cause?: unknown;
}

/**
 * What `load`, `save`, `keys` and `wfvar` refuse with (WV-13, WV-14). `code` is stable; the message is for a person: what, which, the
 * limit, what to do. It never holds a value, an unchecked key, or a path but those that WV-1's two variables and `.self` give.
 */
export class VariablesError extends Error {
  override readonly name = "VariablesError";
  readonly code: HelperCode;
  readonly key: string | undefined;
  readonly size: number | undefined;
  readonly limit: number | undefined;

  constructor(code: HelperCode, message: string, details: VariablesErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.key = details.key;
    this.size = details.size;
    this.limit = details.limit;
  }
}

const fullCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Any error as a VariablesError: the kernel's as `disk_full` or `io_error`, named by errno because its own message holds a path. `key` is
 * what was to be read or written.
 */
export function toVariablesError(error: unknown, key?: string): VariablesError {
  if (error instanceof VariablesError) return error;
  const errno = errnoOf(error);
  const of = key === undefined ? "" : ` ${key}`;
  if (errno !== undefined && fullCodes.has(errno)) {
    return new VariablesError(
      "disk_full",
      `no space left to write${of} (${errno}): remove what the step does not need`,
      { key, cause: error },
    );
  }
  return new VariablesError(
    "io_error",
    errno === undefined
      ? "an unexpected failure inside the helper"
      : `the system refused ${key === undefined ? "a read or a write" : `to read or write ${key}`} (${errno}): check owner, mode and mount`,
    { key, cause: error },
  );
}

/** `ENOENT` and its kind, of an error that a system call gave. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
}

/** What the entrypoint refuses or fails with. A code means one exit code. */
export type EntrypointCode =
  | "usage"
  | "no_variables"
  | "own_folder_missing"
  | "marker_exists"
  | "volume_unusable"
  | "command_not_found"
  | "command_not_runnable"
  | "agent_not_started"
  | "internal_error";

/**
 * The one error of this component. Messages name paths inside the container and errno names, never a value.
 */
export class EntrypointError extends Error {
  override readonly name = "EntrypointError";
  readonly code: EntrypointCode;

  constructor(code: EntrypointCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Any thrown value as an EntrypointError; what is none already is `internal_error`. */
export function toEntrypointError(thrown: unknown): EntrypointError {
  if (thrown instanceof EntrypointError) return thrown;
  const message =
    thrown instanceof Error ? thrown.message : "something that is no error was thrown";
  return new EntrypointError("internal_error", message, { cause: thrown });
}

/** The errno name of a failed system call, `ENOENT`; `unknown` for anything else. */
export function errnoOf(thrown: unknown): string {
  if (!(thrown instanceof Error) || !("code" in thrown)) return "unknown";
  return typeof thrown.code === "string" ? thrown.code : "unknown";
}

import { statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { EntrypointError, errnoOf } from "./entrypoint-error.ts";

export interface LaunchProblem {
  readonly problem: EntrypointError;
  /**
   * As shells and container runtimes have it: 127 nothing found, 126 found but not runnable, 125 not the
   * command's fault.
   */
  readonly exitCode: 125 | 126 | 127;
}

/** Where execvp looks when PATH is unset. */
const defaultPath = "/bin:/usr/bin";

/**
 * Says why a command could not be started (WV-15). The errno alone does not tell: exec answers ENOENT for a
 * file whose interpreter is missing too, and EACCES where merely one folder of PATH may not be searched.
 */
export function explainLaunch(
  file: string,
  path: string | undefined,
  cause: unknown,
): LaunchProblem {
  const errno = file === "" ? "ENOENT" : errnoOf(cause);
  switch (errno) {
    case "ENOENT":
    case "ENOTDIR":
      return isThere(file, path)
        ? notRunnable(file, "its interpreter is missing", cause)
        : notFound(file, cause);
    case "EACCES":
      return file.includes("/") || isThere(file, path)
        ? notRunnable(file, "permission denied, or not a file", cause)
        : notFound(file, cause);
    case "ENOEXEC":
    case "ELIBBAD":
    case "ETXTBSY":
    case "ELOOP":
    case "EISDIR":
    case "EPERM":
    case "EINVAL":
    case "ENAMETOOLONG":
    case "E2BIG":
      return notRunnable(file, errno, cause);
    default:
      return {
        problem: new EntrypointError("agent_not_started", `the agent: ${errno}`, { cause }),
        exitCode: 125,
      };
  }
}

function notFound(file: string, cause: unknown): LaunchProblem {
  const message = `no such command: ${JSON.stringify(file)}`;
  return { problem: new EntrypointError("command_not_found", message, { cause }), exitCode: 127 };
}

function notRunnable(file: string, why: string, cause: unknown): LaunchProblem {
  const message = `cannot run ${JSON.stringify(file)}: ${why}`;
  return {
    problem: new EntrypointError("command_not_runnable", message, { cause }),
    exitCode: 126,
  };
}

/** True where exec found something to try: by its path, or, without a slash, in a folder of PATH. */
function isThere(file: string, path = defaultPath): boolean {
  if (file === "") return false;
  if (file.includes("/")) return statOf(file) !== undefined;
  return path
    .split(delimiter)
    .some((folder) => statOf(join(folder, file))?.isDirectory() === false);
}

function statOf(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

import { spawn } from "node:child_process";

/**
 * The step's processes are groups of their own. A runner that is killed outright, or dies with its terminal,
 * cannot end them: the sidecar would go on delivering until the step's deadline, to a control plane that is
 * gone. So a shell holds the other end of a pipe, and when the runner's end closes it does what is left to do.
 */

export interface Ending {
  readonly signal: "TERM" | "KILL";
  /** Of the group's leader; undefined where it could not be started. */
  readonly pid: number | undefined;
}

/** Signals the process groups once this process is gone. Disposing lets go of them. */
export function leash(endings: readonly Ending[]): Disposable {
  const kills = endings.flatMap(({ signal, pid }) =>
    pid === undefined ? [] : [`kill -s ${signal} -- -${String(pid)}`],
  );
  const child = spawn("sh", ["-c", ["read -r word && exit", ...kills].join("\n")], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without a shell the step could not run either.
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  return {
    [Symbol.dispose]: () => {
      // Before its stdin closes, which would be the end.
      child.kill("SIGKILL");
    },
  };
}

import { spawn } from "node:child_process";
import { errnoOf } from "./entrypoint-error.ts";
import type { Environment } from "./environment.ts";
import { signalGroup } from "./process-group.ts";

/** How one hook ended, with a reason for a person. */
export type HookEnd =
  | { readonly status: "succeeded" }
  | { readonly status: "failed" | "timed_out"; readonly reason: string };

const stderr = 2;
/** Past SIGKILL only the kernel is waited for. */
const killMs = 200;

/**
 * Runs one hook in its own process group until its process exits or `outOfTime` aborts, which kills it.
 * Nothing of its group outlives it. What it prints goes to stderr: stdout is the agent's alone. Never
 * rejects.
 */
export async function runHook(
  file: string,
  env: Environment,
  outOfTime: AbortSignal,
): Promise<HookEnd> {
  try {
    return await untilOver(file, env, outOfTime);
  } catch (error) {
    return { status: "failed", reason: `could not be started: ${errnoOf(error)}` };
  }
}

/** Throws, or rejects, with the errno of a failed exec. */
async function untilOver(file: string, env: Environment, outOfTime: AbortSignal): Promise<HookEnd> {
  const child = spawn(file, [], { env, stdio: ["ignore", stderr, stderr], detached: true });
  const group = child.pid;
  const kill = (): void => {
    if (group !== undefined) signalGroup(group, "SIGKILL");
  };
  let giveUp: NodeJS.Timeout | undefined;
  try {
    return await new Promise<HookEnd>((resolve, reject) => {
      const timedOut: HookEnd = { status: "timed_out", reason: "was killed: out of time" };
      const cut = (): void => {
        kill();
        giveUp = setTimeout(resolve, killMs, timedOut);
      };
      child.once("error", reject);
      child.once("exit", (code, signal) => {
        outOfTime.removeEventListener("abort", cut);
        resolve(outOfTime.aborted ? timedOut : endOf(code, signal));
      });
      outOfTime.addEventListener("abort", cut, { once: true });
    });
  } finally {
    clearTimeout(giveUp);
    kill();
  }
}

function endOf(code: number | null, signal: NodeJS.Signals | null): HookEnd {
  if (code === 0) return { status: "succeeded" };
  const reason = signal === null ? `exited with ${String(code)}` : `was ended by ${signal}`;
  return { status: "failed", reason };
}

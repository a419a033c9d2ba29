import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type Marker, parseMarker } from "../../contract/marker.ts";

/**
 * A variables folder as prefill leaves it, for the step `judge`, and an empty folder of hooks. Gone after the
 * test.
 */
export interface StepFolder {
  /** Everything of this test; what is here and not under `root` is outside. */
  readonly base: string;
  readonly root: string;
  readonly own: string;
  readonly hooks: string;
}

export function makeStepFolder(): StepFolder {
  const base = mkdtempSync(join(tmpdir(), "wfvar-entrypoint-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "variables");
  const own = join(root, "judge");
  const hooks = join(base, "finalize.d");
  for (const folder of [root, own, hooks]) mkdirSync(folder);
  chmodSync(own, 0o777);
  writeFileSync(join(root, ".self"), own, { mode: 0o444 });
  return { base, root, own, hooks };
}

export interface StartOptions {
  /** The entrypoint's own flags, and what follows; by default `--` and the command. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A fixture to preload. */
  readonly preload?: string;
  /** Runs this instead of `node entrypoint/main.ts`. */
  readonly launcher?: readonly [string, ...string[]];
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
}

export const mainFile = join(import.meta.dirname, "../../entrypoint/main.ts");

/** Starts an entrypoint on the folder. Killed after the test, should it still run. */
export function start(
  step: StepFolder,
  command: readonly string[],
  options: StartOptions = {},
): Started {
  const preload = options.preload === undefined ? [] : ["--import", fixture(options.preload)];
  const [file, ...first] = options.launcher ?? [process.execPath, ...preload, mainFile];
  const env = {
    PATH: process.env["PATH"],
    WORKFLOW_VARIABLES_ROOT: step.root,
    WORKFLOW_VARIABLES_SELF: step.own,
    WFVAR_FINALIZE_DIR: step.hooks,
    ...options.env,
  };
  const began = performance.now();
  const child = spawn(file, [...first, ...(options.args ?? ["--", ...command])], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed.stderr += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      const ms = performance.now() - began;
      // What was printed before the exit is still in the pipes; whoever holds them open is not waited for.
      const settle = (): void => resolve({ code, signal, ...printed, ms });
      child.once("close", settle);
      setTimeout(settle, 300);
    });
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("the entrypoint could not be started");
  return { child, pid, ended, kill: (signal) => void child.kill(signal) };
}

/** Runs an entrypoint to its end. */
export function run(
  step: StepFolder,
  command: readonly string[],
  options: StartOptions = {},
): Promise<Ended> {
  return start(step, command, options).ended;
}

/** The agent as a shell script. */
export function shell(script: string): readonly string[] {
  return ["sh", "-c", script];
}

/** The marker; throws where it is missing or not one. */
export function readMarker(step: StepFolder): Marker {
  const marker = parseMarker(readFileSync(join(step.root, ".done")));
  if (marker === undefined) throw new Error("`.done` is not a marker");
  return marker;
}

export function writeHook(step: StepFolder, name: string, script: string, mode = 0o755): void {
  const file = join(step.hooks, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, mode);
}

export async function until(condition: () => boolean, withinMs = 10_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error("what was waited for did not come");
    await sleep(5);
  }
}

export function fileAppears(path: string): Promise<void> {
  return until(() => existsSync(path));
}

/** True while a process that is no zombie has this pid. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${String(pid)}/status`, "utf8"));
  } catch {
    return false;
  }
}

function fixture(name: string): string {
  return join(import.meta.dirname, "fixtures", name);
}

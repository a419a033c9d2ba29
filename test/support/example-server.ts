import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { StampedStep } from "../../contract/wire.ts";
import { pythonInterpreter } from "./python-interpreter.ts";
import { tempFolder } from "./temp-folder.ts";

const example = resolve("examples/python-control-plane/server.py");
const kit = resolve("controlplane/python");

/** `examples/python-control-plane/server.py` as a process of its own, over a database that outlives it. */
export interface ExampleServer {
  readonly url: string;
  /** Stamps a step as `server.py stamp` does; `run` makes one where none is given. */
  readonly stamp: (step: string, more?: StampOptions) => StampedStep;
  readonly get: (run: string, key: string) => Buffer;
  /** SIGKILL, and the same database again under a new URL. */
  readonly restart: () => Promise<ExampleServer>;
}

export interface StampOptions {
  readonly run?: string;
  readonly dependsOn?: readonly string[];
  readonly outputs?: readonly string[];
}

export async function startExampleServer(
  database = join(tempFolder(), "cp.db"),
): Promise<ExampleServer> {
  const python = pythonInterpreter();
  const env = { PYTHONPATH: kit, PYTHONDONTWRITEBYTECODE: "1", PYTHONWARNINGS: "error" };
  const argv = (...words: string[]): string[] => [example, "--db", database, ...words];
  const child = spawn(python, argv("serve", "--listen", "127.0.0.1:0"), {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, "line")) as [string];
  const url = line.replace("step calls ", "");
  return {
    url,
    stamp: (step, { run, dependsOn = [], outputs = [] } = {}) => {
      const words = [
        ...(run === undefined ? [] : ["--run", run]),
        ...dependsOn.flatMap((path) => ["--depends-on", path]),
        ...outputs.flatMap((key) => ["--output", key]),
      ];
      const printed = execFileSync(python, argv("stamp", step, "--url", url, ...words), { env });
      const stamped = JSON.parse(printed.toString()) as Omit<StampedStep, "env" | "deadline">;
      const deadline = new Date(Date.now() + 60_000).toISOString();
      return { ...stamped, deadline, env: environmentOf(stamped, deadline) };
    },
    get: (run, key) => execFileSync(python, argv("get", run, key), { env }),
    restart: async () => {
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
      return startExampleServer(database);
    },
  };
}

/** What a team's own control plane tells the pod; limits are the sidecar's defaults. */
function environmentOf(
  { run, step, attempt }: Pick<StampedStep, "run" | "step" | "attempt">,
  deadline: string,
): Record<string, string> {
  return {
    WFVAR_RUN: run,
    WFVAR_STEP: step,
    WFVAR_ATTEMPT: String(attempt),
    WFVAR_DEADLINE: deadline,
  };
}

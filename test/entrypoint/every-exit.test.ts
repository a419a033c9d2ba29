import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseMarker, type Marker } from "../../contract/marker.ts";
import { dist } from "../support/dist.ts";
import { makeStepFolder, type StepFolder } from "./harness.ts";

/** Entrypoints at a time: these machines have few cores. */
const atOnce = 4;
const entrypoint = join(dist, "agent", "lib", "entrypoint.cjs");

interface End {
  readonly status: number | null;
  readonly marker: Marker | undefined;
}

/** Runs the built entrypoint over a shell script; a folder is used again once its marker is gone. */
async function run(step: StepFolder, script: string): Promise<End> {
  rmSync(join(step.root, ".done"), { force: true });
  const env = {
    PATH: process.env["PATH"],
    WORKFLOW_VARIABLES_ROOT: step.root,
    WORKFLOW_VARIABLES_SELF: step.own,
    WFVAR_FINALIZE_DIR: step.hooks,
  };
  const child = spawn(process.execPath, [entrypoint, "--", "sh", "-c", script], {
    env,
    stdio: "ignore",
  });
  const status = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  return { status, marker: parseMarker(readFileSync(join(step.root, ".done"))) };
}

/** Runs all cases, a few at a time, each worker in a folder of its own. */
async function runAll<T>(cases: readonly T[], scriptOf: (each: T) => string): Promise<Map<T, End>> {
  const ends = new Map<T, End>();
  const left = cases.values();
  const worker = async (): Promise<void> => {
    const step = makeStepFolder();
    for (const each of left) ends.set(each, await run(step, scriptOf(each)));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return ends;
}

describe("the entrypoint's exit status and marker (WV-6, WV-15)", () => {
  it("are the agent's for every exit code", { timeout: 120_000 }, async () => {
    const codes = Array.from({ length: 256 }, (_, code) => code);
    const ends = await runAll(codes, (code) => `exit ${String(code)}`);
    expect(ends.size).toBe(256);
    for (const [code, { status, marker }] of ends) {
      const outcome = code === 0 ? "succeeded" : "failed";
      expect([code, status]).toEqual([code, code]);
      expect(marker).toMatchObject({
        outcome,
        exit_code: code,
        signal: null,
        finalize: { status: "none" },
      });
    }
  });

  it("are 128+n for every signal up to 31 that ends a process", { timeout: 60_000 }, async () => {
    // What stops a process, continues it or is ignored ends nothing.
    const harmless = new Set([
      "SIGSTOP",
      "SIGTSTP",
      "SIGTTIN",
      "SIGTTOU",
      "SIGCONT",
      "SIGCHLD",
      "SIGURG",
      "SIGWINCH",
    ]);
    const signals = Object.entries(constants.signals).filter(
      ([name, n]) => n <= 31 && !harmless.has(name),
    );
    const numbers = [...new Set(signals.map(([, n]) => n))];
    const ends = await runAll(numbers, (n) => `ulimit -c 0; kill -${String(n)} $$; exit 99`);
    expect(ends.size).toBeGreaterThan(20);
    for (const [n, { status, marker }] of ends) {
      expect([n, status]).toEqual([n, 128 + n]);
      expect(marker).toMatchObject({ outcome: "failed", exit_code: 128 + n });
      expect(constants.signals[marker?.signal as NodeJS.Signals]).toBe(n);
    }
  });
});

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { median, type Figure } from "./ratio.ts";

const entrypoint = resolve("dist", "agent", "lib", "entrypoint.cjs");
const startRounds = 31;
const memoryRounds = 5;

/** What the entrypoint costs an agent: the wait before it starts, and the memory while it runs. */
export async function benchEntrypoint(): Promise<Figure[]> {
  const root = mkdtempSync(join(tmpdir(), "wfvar-bench-"));
  mkdirSync(join(root, "judge"));
  // As in a pod: the sidecar is there. Nobody need accept, the kernel connects.
  const sidecar = createServer().listen(join(root, ".sidecar.sock"));
  try {
    return [
      {
        name: "entrypoint, its start to the agent's",
        ratio: startRatio(root, []),
        floor: "node -e 0",
      },
      {
        name: "the same with --capture-response",
        ratio: startRatio(root, ["--capture-response"]),
        floor: "node -e 0",
      },
      {
        name: "entrypoint while the agent runs, resident",
        ratio: await memoryRatio(root),
        floor: "a bare node",
      },
    ];
  } finally {
    sidecar.close();
    rmSync(root, { recursive: true });
  }
}

/**
 * The agent is `date`: what it prints is when it ran, its own start included. Of both the fastest round counts,
 * the one that nothing else on the machine disturbed.
 */
function startRatio(root: string, flags: readonly string[]): number {
  let fastestMs = Infinity;
  let fastestBareMs = Infinity;
  for (let round = 0; round < startRounds; round += 1) {
    rmSync(join(root, ".done"), { force: true });
    const startMs = nowMs();
    const argv = [entrypoint, ...flags, "--", "date", "+%s%N"];
    const { stdout } = spawnSync(process.execPath, argv, { env: environment(root) });
    fastestMs = Math.min(fastestMs, Number(stdout.toString()) / 1e6 - startMs);
    const bareStartMs = nowMs();
    spawnSync(process.execPath, ["-e", "0"], { env: environment(root) });
    fastestBareMs = Math.min(fastestBareMs, nowMs() - bareStartMs);
  }
  return fastestMs / fastestBareMs;
}

async function memoryRatio(root: string): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < memoryRounds; round += 1) {
    rmSync(join(root, ".done"), { force: true });
    const subject = await residentKiB([entrypoint, "--", "sleep", "60"], root);
    const floor = await residentKiB(["-e", "setInterval(() => undefined, 1000)"], root);
    ratios.push(subject / floor);
  }
  return median(ratios);
}

async function residentKiB(argv: readonly string[], root: string): Promise<number> {
  const child = spawn(process.execPath, argv, { env: environment(root), stdio: "ignore" });
  const exited = new Promise((settle) => child.once("exit", settle));
  try {
    await delay(500);
    const status = readFileSync(`/proc/${String(child.pid)}/status`, "utf8");
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
    return Number(kib);
  } finally {
    // The entrypoint takes its agent along.
    child.kill("SIGTERM");
    await exited;
  }
}

function environment(root: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    WORKFLOW_VARIABLES_ROOT: root,
    WORKFLOW_VARIABLES_SELF: join(root, "judge"),
  };
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

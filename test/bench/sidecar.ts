import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { median, type Figure } from "./ratio.ts";

const rounds = 5;
const packedMiB = 16;
/** Delivery's modules are loaded and its first byte is sent within this time of the marker. */
const firstByteBudgetMs = 150;

/** What a sidecar costs while it waits and while it packs, and how soon it speaks. */
export async function benchSidecar(): Promise<Figure[]> {
  const waiting: number[] = [];
  const growth: number[] = [];
  const firstByte: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const bareKiB = await bareNodeKiB();
    const once16MiB = await measure(packedMiB);
    const small = await measure(0);
    waiting.push(once16MiB.waitingKiB / bareKiB);
    growth.push((once16MiB.peakKiB - once16MiB.waitingKiB) / 1024 / packedMiB);
    firstByte.push(small.firstByteMs / firstByteBudgetMs);
  }
  return [
    { name: "sidecar waiting, resident memory", ratio: median(waiting), floor: "a bare node" },
    { name: "sidecar packing 16 MiB, peak over waiting", ratio: median(growth), floor: "16 MiB" },
    { name: "marker to first byte of a small pack", ratio: median(firstByte), floor: "150 ms" },
  ];
}

interface Measured {
  readonly waitingKiB: number;
  readonly peakKiB: number;
  readonly firstByteMs: number;
}

async function measure(mib: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "wfvar-bench-"));
  const root = join(folder, "variables");
  mkdirSync(join(root, "judge"), { recursive: true });
  for (let i = 0; i < mib; i += 1) {
    writeFileSync(join(root, "judge", `V${String(i)}`), Buffer.alloc(1024 ** 2, 0x61));
  }
  writeFileSync(join(folder, "token"), "token");
  let firstByteAt = 0;
  let sidecar: ChildProcess | undefined;
  let peakKiB = 0;
  const server = createServer((request, response) => {
    firstByteAt = performance.now();
    request.resume();
    request.on("end", () => {
      peakKiB = statusKiB(sidecar, "VmHWM");
      response.writeHead(403).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  sidecar = spawn(process.execPath, [resolve("dist", "sidecar", "main.mjs"), "pack"], {
    env: {
      WORKFLOW_VARIABLES_ROOT: root,
      WFVAR_CP_URL: `http://127.0.0.1:${String(address.port)}`,
      WFVAR_TOKEN_FILE: join(folder, "token"),
      WFVAR_RUN: "bench",
      WFVAR_STEP: "judge",
      WFVAR_INSTANCE: "bench",
    },
    stdio: "ignore",
  });
  const exit = once(sidecar, "exit");
  try {
    while (!existsSync(join(root, ".sidecar.sock"))) await delay(10);
    await delay(300);
    const waitingKiB = statusKiB(sidecar, "VmRSS");
    writeFileSync(join(root, ".pending"), "{}");
    const markerAt = performance.now();
    renameSync(join(root, ".pending"), join(root, ".done"));
    await exit;
    return { waitingKiB, peakKiB, firstByteMs: firstByteAt - markerAt };
  } finally {
    sidecar.kill("SIGKILL");
    server.close();
    rmSync(folder, { recursive: true });
  }
}

async function bareNodeKiB(): Promise<number> {
  const bare = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"], {
    stdio: "ignore",
  });
  try {
    await delay(500);
    return statusKiB(bare, "VmRSS");
  } finally {
    bare.kill("SIGKILL");
  }
}

function statusKiB(child: ChildProcess | undefined, field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${String(child?.pid)}/status`, "utf8");
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status) ?? [];
  return Number(kib);
}

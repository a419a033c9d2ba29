import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseStepPath } from "../../contract/ids.ts";
import { defaultLimits } from "../../contract/limits.ts";
import { collect } from "../../sidecar/collect.ts";
import { openRoot } from "../../sidecar/descriptor.ts";
import { buildPack } from "../../sidecar/pack.ts";
import { medianRatio, type Figure } from "./ratio.ts";

const folders = 20;
const filesPerFolder = 50;
const floor = "a naive read of the same tree";

/** The walk, and walk and pack, of 1000 files of 4 KiB, against reading them by path. */
export async function benchWalk(): Promise<Figure[]> {
  const root = mkdtempSync(join(tmpdir(), "wfvar-bench-"));
  for (let folder = 0; folder < folders; folder += 1) {
    mkdirSync(join(root, "judge", `f${String(folder)}`), { recursive: true });
    for (let file = 0; file < filesPerFolder; file += 1) {
      writeFileSync(
        join(root, "judge", `f${String(folder)}`, `V${String(file)}`),
        "x".repeat(4096),
      );
    }
  }
  const step = parseStepPath("judge");
  if (step === undefined) throw new Error("unreachable");
  const target = {
    cpUrl: new URL("http://127.0.0.1"),
    tokenFile: "",
    run: "bench",
    step,
    attempt: 1,
    instance: "bench",
    caFile: undefined,
    proxy: undefined,
    traceparent: undefined,
  };
  const rootFd = openRoot(root);
  const walk = () => collect(rootFd, step, "marker", defaultLimits);
  const naive = (): void => readAll(join(root, "judge"));
  try {
    const walked = await medianRatio(() => void walk(), naive);
    const packed = await medianRatio(async () => {
      await buildPack(walk(), target, defaultLimits);
    }, naive);
    return [
      { name: "walk of 1000 files of 4 KiB", ratio: walked, floor },
      { name: "walk and pack of 1000 files of 4 KiB", ratio: packed, floor },
    ];
  } finally {
    closeSync(rootFd);
    rmSync(root, { recursive: true });
  }
}

function readAll(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) readAll(path);
    else readFileSync(path);
  }
}

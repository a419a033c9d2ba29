import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pythonKit } from "../support/python-kit.ts";
import { medianRatio, type Figure } from "./ratio.ts";

const floor = "python3 -ISE -c 0";

/** Start-up of what agents call where there is no Node, compiled once as Python does by itself. */
export async function benchPython(): Promise<Figure[]> {
  using kit = pythonKit();
  const root = mkdtempSync(join(tmpdir(), "wfvar-bench-"));
  const self = join(root, "judge");
  mkdirSync(self);
  writeFileSync(join(self, "VERDICT"), "ok");
  writeFileSync(join(root, ".step"), JSON.stringify({ version: 1, limits: {}, outputs: [] }));
  const env = { WORKFLOW_VARIABLES_ROOT: root, WORKFLOW_VARIABLES_SELF: self };
  const run = (...argv: string[]): void => {
    const { status } = spawnSync(kit.python, ["-ISE", ...argv], { env, stdio: "ignore" });
    if (status !== 0) throw new Error(`${argv.join(" ")} exited ${String(status)}`);
  };
  try {
    const bare = (): void => run("-c", "0");
    const get = await medianRatio(() => run(kit.main, "get", "verdict"), bare);
    const set = await medianRatio(() => run(kit.main, "set", "-q", "verdict", "ok"), bare);
    return [
      { name: "wfvar get, in Python", ratio: get, floor },
      { name: "wfvar set, in Python", ratio: set, floor },
    ];
  } finally {
    rmSync(root, { recursive: true });
  }
}

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { benchEntrypoint } from "./entrypoint.ts";
import { medianRatio, type Figure } from "./ratio.ts";

const agent = resolve("dist", "agent", "lib");
const floor = "node -e 0";

/** Start-up of what agents call and run under, against a bare Node of the same version. */
export async function benchCommands(): Promise<Figure[]> {
  const root = mkdtempSync(join(tmpdir(), "wfvar-bench-"));
  const self = join(root, "judge");
  mkdirSync(self);
  writeFileSync(join(self, "VERDICT"), "ok");
  const env = { ...process.env, WORKFLOW_VARIABLES_ROOT: root, WORKFLOW_VARIABLES_SELF: self };
  const run = (...argv: string[]): void => {
    const { status } = spawnSync(process.execPath, argv, { env, stdio: "ignore" });
    if (status !== 0) throw new Error(`${argv.join(" ")} exited ${String(status)}`);
  };
  try {
    const bare = (): void => run("-e", "0");
    const get = await medianRatio(() => run(join(agent, "wfvar.cjs"), "get", "verdict"), bare);
    const whole = await medianRatio(() => {
      rmSync(join(root, ".done"), { force: true });
      run(join(agent, "entrypoint.cjs"), "--", "true");
    }, bare);
    return [
      { name: "wfvar get", ratio: get, floor },
      { name: "entrypoint -- true, start to end", ratio: whole, floor },
      ...(await benchEntrypoint()),
    ];
  } finally {
    rmSync(root, { recursive: true });
  }
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parseStepPath } from "../../contract/ids.ts";
import { defaultLimits } from "../../contract/limits.ts";
import { collect } from "../../sidecar/collect.ts";
import { openRoot } from "../../sidecar/descriptor.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { makeTree } from "../support/tree.ts";

const durationMs = 20_000;
const canary = "CANARY-FROM-OUTSIDE";
const attacks = ["folder-link", "file-link", "file-fifo", "resize", "chmod"];
/** It would keep the others from their work, and so has a step of its own. */
const ownFolderAttack = "own-folder";

it(
  "packs nothing from outside, and neither hangs nor crashes, while others race it for 20 s (WV-11, WV-16)",
  { timeout: durationMs + 30_000 },
  async () => {
    const root = tempFolder();
    const outside = tempFolder();
    makeTree(outside, [`VALUE=${canary}`, `sub/VALUE=${canary}`]);
    makeTree(root, ["swapped/VALUE=mine", "swapped/sub/VALUE=mine"]);
    for (const attack of attacks) {
      makeTree(root, [`judge/${attack}/VALUE=mine`, `judge/${attack}/sub/VALUE=mine`]);
    }
    const script = join(import.meta.dirname, "fixtures", "attack.ts");
    const attackers = [...attacks, ownFolderAttack].map((attack) => {
      const folder = join(root, attack === ownFolderAttack ? "swapped" : "judge");
      const stdio = ["ignore", "inherit", "inherit"] as const;
      return spawn(process.execPath, [script, attack, folder, outside], { stdio: [...stdio] });
    });
    // They are gone before the folders are removed: these hooks run last first.
    onTestFinished(async () => {
      const gone = attackers.map((attacker) => once(attacker, "exit"));
      for (const attacker of attackers) attacker.kill("SIGKILL");
      await Promise.all(gone);
    });

    const steps = ["judge", "swapped"].flatMap((name) => parseStepPath(name) ?? []);
    const rootFd = openRoot(root);
    const seen = new Set<string>();
    const until = Date.now() + durationMs;
    let [packs, slowestMs] = [0, 0];
    while (Date.now() < until) {
      for (const step of steps) {
        const start = performance.now();
        const { values, rejected, skipped } = collect(rootFd, step, "marker", defaultLimits);
        slowestMs = Math.max(slowestMs, performance.now() - start);
        for (const { bytes } of values) expect(bytes.includes(canary)).toBe(false);
        for (const { code } of [...rejected, ...skipped]) seen.add(code);
      }
      packs += 1;
      if (packs % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    // None of them gave up, and what they did was met.
    expect(attackers.map(({ exitCode }) => exitCode)).toEqual(attackers.map(() => null));
    expect([...seen]).toEqual(
      expect.arrayContaining([
        "skipped_symlink",
        "skipped_fifo",
        "changed_while_reading",
        "own_folder_missing",
      ]),
    );
    expect(packs).toBeGreaterThan(100);
    expect(slowestMs).toBeLessThan(5_000);
  },
);

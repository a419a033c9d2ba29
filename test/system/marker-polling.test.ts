import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { dist } from "../support/dist.ts";
import { tempFolder } from "../support/temp-folder.ts";

const runs = 500;

it(`a reader in a tight loop over ${String(runs)} runs sees the marker absent or whole (WV-6)`, async () => {
  const root = tempFolder();
  mkdirSync(join(root, "judge"));
  const marker = join(root, ".done");
  const reader = spawn(
    process.execPath,
    [join(import.meta.dirname, "fixtures", "poll-marker.ts"), marker],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let printed = "";
  reader.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const ended = new Promise((resolve) => reader.once("close", resolve));
  const env = {
    PATH: process.env["PATH"],
    WORKFLOW_VARIABLES_ROOT: root,
    WORKFLOW_VARIABLES_SELF: join(root, "judge"),
  };
  for (let run = 0; run < runs; run += 1) {
    const argv = [join(dist, "agent", "lib", "entrypoint.cjs"), "--", "true"];
    expect(spawnSync(process.execPath, argv, { env, stdio: "ignore" }).status).toBe(0);
    rmSync(marker);
  }
  writeFileSync(`${marker}.stop`, "");
  await ended;
  const seen = JSON.parse(printed) as { absent: number; whole: number; torn: number };
  expect(seen.torn).toBe(0);
  expect(seen.absent).toBeGreaterThan(runs);
  // It was really there to be seen: the marker stands for a moment in each run.
  expect(seen.whole).toBeGreaterThan(runs);
});

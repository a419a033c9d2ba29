import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { dist } from "../support/dist.ts";
import { tempFolder } from "../support/temp-folder.ts";

it("the entrypoint holds no more than the tail while a gigabyte goes through --capture-response (WV-15)", async () => {
  const root = tempFolder();
  mkdirSync(join(root, "judge"));
  const script = "head -c 1073741824 /dev/zero | tr '\\0' x; grep VmHWM /proc/$PPID/status >&2";
  const argv = [
    join(dist, "agent", "lib", "entrypoint.cjs"),
    "--capture-response",
    "--",
    "sh",
    "-c",
    script,
  ];
  const env = {
    PATH: process.env["PATH"],
    WORKFLOW_VARIABLES_ROOT: root,
    WORKFLOW_VARIABLES_SELF: join(root, "judge"),
  };
  const child = spawn(process.execPath, argv, { env, stdio: ["ignore", "pipe", "ignore"] });
  let passed = 0;
  child.stdout.on("data", (chunk: Buffer) => (passed += chunk.length));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect([code, passed]).toEqual([0, 1024 ** 3]);
  expect(readFileSync(join(root, "judge", "RESPONSE"), "utf8")).toBe("x".repeat(1024 ** 2));
  const [, peakKiB] =
    /VmHWM:\s+(\d+) kB/.exec(readFileSync(join(root, "judge", "FAILURE"), "utf8")) ?? [];
  expect(Number(peakKiB)).toBeLessThan(256 * 1024);
});

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { dist } from "../support/dist.ts";
import { serveControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

it("the shipped control plane passes the shipped conformance suite, with no check skipped", async () => {
  const dataDir = tempFolder();
  const cp = await serveControlPlane(dataDir);
  const argv = ["conformance", "--against", cp.stepUrl, "--operator-url", cp.operatorUrl];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    join(dist, "controlplane", "main.mjs"),
    ...argv,
    "--operator-token-file",
    join(dataDir, "operator-token"),
  ]);
  expect(stderr).toBe("");
  const lines = stdout.trimEnd().split("\n");
  expect(lines.slice(0, -1).filter((line) => !line.startsWith("ok   "))).toEqual([]);
  expect(lines.at(-1)).toMatch(/^(\d+) checks: \1 ok, 0 failed, 0 skipped$/);
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { podEnv, runSidecar, sidecarSays } from "../support/sidecar.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { makeTree } from "../support/tree.ts";
import { startControlPlane } from "../support/control-plane.ts";

function pod(root: string, cpUrl = "http://127.0.0.1:1"): Record<string, string> {
  return podEnv({ token: "t", env: { WFVAR_RUN: "r", WFVAR_STEP: "judge" } }, root, cpUrl);
}

describe("wfvar-sidecar status", () => {
  it("says where a step stands whose sidecar says nothing", async () => {
    const root = tempFolder();
    makeTree(root, ["judge/A=1", "judge/b=22", "judge/bad name=x"]);
    const log = join(tempFolder(), "termination-log");
    const env = { ...pod(root), WFVAR_TERMINATION_LOG: log };
    const before = await sidecarSays(["status"], env);
    expect(before).toEqual({
      code: 0,
      stdout:
        "step     judge, attempt 1, run r\n" +
        `sidecar  unknown: ${log} is not there to tell\n` +
        "agent    not started\n" +
        "folder   2 values, 3 bytes, 1 invalid_output_key\n",
    });
    writeFileSync(log, "");
    const { stdout } = await sidecarSays(["status"], env);
    expect(stdout).toMatch(/^sidecar {2}has not said anything yet$/m);
  });

  it("says that the volume is not there, and what to mend", async () => {
    expect(await sidecarSays(["status"], pod(join(tempFolder(), "nope")))).toEqual({
      code: 12,
      stdout:
        "PROBLEM  volume         the volume does not exist: mount it, or set WORKFLOW_VARIABLES_ROOT\n",
    });
  });

  it("says what was delivered", async () => {
    const cp = await startControlPlane();
    const stamped = await cp.stamp(await cp.createRun(), { step: "judge" });
    const root = tempFolder();
    makeTree(root, ["judge/A=1", ".done="]);
    const log = join(tempFolder(), "termination-log");
    const env = { ...podEnv(stamped, root, cp.stepUrl), WFVAR_TERMINATION_LOG: log };
    writeFileSync(log, "");
    expect((await runSidecar("pack", env)).code).toBe(0);
    const { stdout } = await sidecarSays(["status"], env);
    expect(stdout).toMatch(/^sidecar {2}delivered since \S+Z, 1 values$/m);
    expect(stdout).toMatch(/^agent {4}over, with a marker that is not valid$/m);
  });
});

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  fileAppears,
  mainFile,
  makeStepFolder,
  readMarker,
  run,
  shell,
  start,
  writeHook,
} from "./harness.ts";

/** A process namespace of its own, as a container has one. */
const unshare = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"] as const;
const canUnshare = spawnSync(unshare[0], [...unshare.slice(1), "true"]).status === 0;

describe.runIf(canUnshare).each([
  ["as PID 1", [...unshare, process.execPath, mainFile]],
  // The shell stands for an init that passes the exit status on.
  [
    "as the child of PID 1",
    [...unshare, "sh", "-c", '"$@"; exit $?', "sh", process.execPath, mainFile],
  ],
] as const)("the entrypoint %s of a container (WV-15)", (_, launcher) => {
  it("passes the exit code on", async () => {
    const step = makeStepFolder();
    expect((await run(step, shell("exit 6"), { launcher })).code).toBe(6);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 6 });
  });

  it("ends well although nobody reaps what the agent orphaned (argo-workflows#9446: zombies)", async () => {
    const step = makeStepFolder();
    // Each orphan ends at once: as PID 1 we would have to reap it, and Node does not.
    const orphans = "for i in 1 2 3 4 5; do (sleep 0 &); done; sleep 0.3; exit 2";
    writeHook(step, "10-runs", `echo ran > "${step.own}/RAN"`);
    const ended = await run(step, shell(orphans), { launcher });
    expect(ended).toMatchObject({ code: 2, stderr: "" });
    expect(ended.ms).toBeLessThan(3000);
    expect(readMarker(step)).toMatchObject({ exit_code: 2, finalize: { status: "succeeded" } });
  });

  it("hears TERM, which PID 1 does without a handler not", async () => {
    const step = makeStepFolder();
    const script = `trap 'exit 9' TERM; touch "${step.own}/READY"; while :; do sleep 0.05; done`;
    // Sent from inside: the pid is another one out here.
    const sender = `until [ -e "${step.own}/READY" ]; do sleep 0.05; done; kill -TERM $PPID`;
    const agent = start(step, shell(`(${sender}) & ${script}`), { launcher });
    await fileAppears(join(step.own, "READY"));
    expect((await agent.ended).code).toBe(9);
    expect(readMarker(step)).toMatchObject({ outcome: "terminated", exit_code: 9 });
  });
});

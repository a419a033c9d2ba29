import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  fileAppears,
  isAlive,
  makeStepFolder,
  readMarker,
  run,
  shell,
  start,
  type StepFolder,
  writeHook,
} from "./harness.ts";

/** A child in the background that writes its pid first, and the agent's end once it has. */
function leaveBehind(step: StepFolder, child: string, exit: string): readonly string[] {
  const pid = join(step.own, "PID");
  const script = `(echo $(exec sh -c 'echo $PPID') > "${pid}"; ${child}) & until [ -s "${pid}" ]; do sleep 0.02; done; ${exit}`;
  return shell(script);
}

function pidOf(step: StepFolder): number {
  return Number(readFileSync(join(step.own, "PID"), "utf8"));
}

describe("what the agent leaves behind (WV-15; argo-workflows#6375: a background child keeps the step alive)", () => {
  it("is ended before the hooks, though it holds the agent's pipes; the exit code stays the agent's", async () => {
    const step = makeStepFolder();
    writeHook(step, "10-look", `grep "^State:.[RSD]" /proc/$(cat "${step.own}/PID")/status`);
    const ended = await run(step, leaveBehind(step, "sleep 60", "exit 6"));
    expect(ended).toMatchObject({ code: 6, stdout: "" });
    expect(ended.stderr).not.toMatch(/State/);
    expect(isAlive(pidOf(step))).toBe(false);
    expect(ended.ms).toBeLessThan(2000);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 6 });
  });

  it("gets TERM and the time to write its last value", async () => {
    const step = makeStepFolder();
    const child = `trap 'sleep 0.5; echo last > "${step.own}/LAST"; exit' TERM; while :; do sleep 0.05; done`;
    await run(step, leaveBehind(step, child, "exit 0"));
    expect(readFileSync(join(step.own, "LAST"), "utf8")).toBe("last\n");
    expect(readMarker(step)).toMatchObject({ outcome: "succeeded", exit_code: 0 });
  });

  it("is killed after 2 s where it ignores TERM", async () => {
    const step = makeStepFolder();
    const child = "trap '' TERM; while :; do sleep 0.05; done";
    const ended = await run(step, leaveBehind(step, child, "exit 0"));
    expect(ended.code).toBe(0);
    expect(ended.ms).toBeGreaterThanOrEqual(2000);
    expect(ended.ms).toBeLessThan(5000);
    expect(isAlive(pidOf(step))).toBe(false);
  });

  it("has no more than the rest of the agent's grace after TERM", async () => {
    const step = makeStepFolder();
    const child = "trap '' TERM; while :; do sleep 0.05; done";
    const agent = start(
      step,
      leaveBehind(step, child, "trap 'exit 0' TERM; while :; do sleep 0.05; done"),
      {
        env: { WFVAR_AGENT_GRACE: "300ms" },
      },
    );
    await fileAppears(join(step.own, "PID"));
    // The agent's own trap stands a moment after the file.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const sent = performance.now();
    agent.kill("SIGTERM");
    await agent.ended;
    expect(performance.now() - sent).toBeLessThan(1500);
    expect(isAlive(pidOf(step))).toBe(false);
  });

  it("a zombie that nobody reaps, as where PID 1 is no init, is not waited for", async () => {
    const step = makeStepFolder();
    const file = join(step.base, "zombie.py");
    // A parent that leaves the group and never asks for its child.
    const script = `import os, time
if os.fork() == 0:
    os._exit(0)
os.setsid()
open("${step.own}/PID", "w").write(str(os.getpid()))
time.sleep(60)
`;
    writeFileSync(file, script);
    const agent = `python3 "${file}" & until [ -s "${step.own}/PID" ]; do sleep 0.02; done; echo over`;
    const ended = await run(step, shell(agent));
    onTestFinished(() => void process.kill(pidOf(step), "SIGKILL"));
    expect(ended).toMatchObject({ code: 0, stdout: "over\n", stderr: "" });
    expect(isAlive(pidOf(step))).toBe(true);
    expect(ended.ms).toBeLessThan(2000);
  });

  it("where nothing is left, nothing is waited for", async () => {
    const step = makeStepFolder();
    expect((await run(step, shell("exit 0"))).ms).toBeLessThan(1500);
    expect(existsSync(join(step.root, ".done"))).toBe(true);
  });
});

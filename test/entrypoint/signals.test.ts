import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { forwardedSignals } from "../../entrypoint/signals.ts";
import { fileAppears, isAlive, makeStepFolder, readMarker, run, shell, start } from "./harness.ts";

/** Shells run a trap only between commands: many short sleeps instead of one long. */
const idle = "while :; do sleep 0.05; done";

describe("signals while the agent runs (WV-15)", () => {
  it.each(forwardedSignals)("%s reaches the agent", async (signal) => {
    const step = makeStepFolder();
    const name = signal.slice(3);
    const agent = start(step, shell(`trap 'exit 7' ${name}; touch "${step.own}/READY"; ${idle}`));
    await fileAppears(join(step.own, "READY"));
    agent.kill(signal);
    const ended = await agent.ended;
    expect(ended).toMatchObject({ code: 7, signal: null });
    // Node's own answer to USR1.
    expect(ended.stderr).not.toMatch(/Debugger/);
    const terminates = signal === "SIGTERM" || signal === "SIGINT";
    expect(readMarker(step)).toMatchObject({
      outcome: terminates ? "terminated" : "failed",
      exit_code: 7,
      signal: null,
    });
  });

  it("TERM reaches the whole group, not only the agent's first process", async () => {
    const step = makeStepFolder();
    const child = `trap 'echo child; exit' TERM; touch "${step.own}/READY"; ${idle}`;
    const agent = start(step, shell(`trap 'wait; exit 3' TERM; (${child}) & wait`));
    await fileAppears(join(step.own, "READY"));
    agent.kill("SIGTERM");
    expect(await agent.ended).toMatchObject({ code: 3, stdout: "child\n" });
  });

  it("an agent that ends well on TERM is still terminated", async () => {
    const step = makeStepFolder();
    const agent = start(step, shell(`trap 'exit 0' TERM; touch "${step.own}/READY"; ${idle}`));
    await fileAppears(join(step.own, "READY"));
    agent.kill("SIGTERM");
    expect((await agent.ended).code).toBe(0);
    expect(readMarker(step)).toMatchObject({ outcome: "terminated", exit_code: 0, signal: null });
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "an agent that ignores %s is killed after its grace",
    async (signal) => {
      const step = makeStepFolder();
      const script = `trap '' TERM INT; touch "${step.own}/READY"; ${idle}`;
      const agent = start(step, shell(script), { env: { WFVAR_AGENT_GRACE: "400ms" } });
      await fileAppears(join(step.own, "READY"));
      const sent = performance.now();
      agent.kill(signal);
      expect((await agent.ended).code).toBe(137);
      expect(performance.now() - sent).toBeGreaterThanOrEqual(400);
      expect(readMarker(step)).toMatchObject({
        outcome: "terminated",
        exit_code: 137,
        signal: "SIGKILL",
      });
    },
  );

  it.each([
    ["SIGTERM", "SIGTERM"],
    ["SIGTERM", "SIGINT"],
    ["SIGINT", "SIGTERM"],
  ] as const)("%s and then %s kills at once", async (first, second) => {
    const step = makeStepFolder();
    const script = `trap '' TERM INT; touch "${step.own}/READY"; ${idle}`;
    const agent = start(step, shell(script), { env: { WFVAR_AGENT_GRACE: "1h" } });
    await fileAppears(join(step.own, "READY"));
    agent.kill(first);
    await sleep(100);
    expect(agent.child.exitCode).toBeNull();
    agent.kill(second);
    expect((await agent.ended).code).toBe(137);
    expect(readMarker(step)).toMatchObject({ outcome: "terminated", signal: "SIGKILL" });
  });

  it("a grace longer than a timer can hold does not become none", async () => {
    const step = makeStepFolder();
    const script = `trap 'sleep 0.3; exit 0' TERM; touch "${step.own}/READY"; ${idle}`;
    const agent = start(step, shell(script), { env: { WFVAR_AGENT_GRACE: "300d" } });
    await fileAppears(join(step.own, "READY"));
    agent.kill("SIGTERM");
    expect((await agent.ended).code).toBe(0);
  });
});

describe("signals before the agent exists (WV-15; flyteorg/flyte#6523: killed before its handler)", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("%s: the agent is never started", async (signal) => {
    const step = makeStepFolder();
    const ended = await run(step, shell(`touch "${step.own}/RAN"`), {
      preload: "signal-after-handlers.ts",
      env: { TEST_SIGNAL: signal },
    });
    const code = 128 + constants.signals[signal];
    expect(ended).toMatchObject({ code, signal: null });
    expect(existsSync(join(step.own, "RAN"))).toBe(false);
    expect(readMarker(step)).toMatchObject({
      outcome: "terminated",
      exit_code: code,
      signal: null,
    });
  });

  it("any other is held for the agent", async () => {
    const step = makeStepFolder();
    const ended = await run(step, shell("sleep 30"), {
      preload: "signal-after-handlers.ts",
      env: { TEST_SIGNAL: "SIGHUP" },
    });
    expect(ended.code).toBe(129);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 129, signal: "SIGHUP" });
  });

  it("whenever TERM comes, the step ends: unstarted, or with a marker and no agent left", async () => {
    for (let delayMs = 20; delayMs <= 240; delayMs += 20) {
      const step = makeStepFolder();
      const pidFile = join(step.own, "PID");
      const agent = start(step, shell(`echo $$ > "${pidFile}"; exec sleep 30`));
      await sleep(delayMs);
      agent.kill("SIGTERM");
      const ended = await agent.ended;
      if (ended.signal === "SIGTERM") {
        // Node itself was still starting: nothing of the step exists.
        expect(existsSync(join(step.root, ".started"))).toBe(false);
        continue;
      }
      expect(ended.code).toBe(143);
      expect(readMarker(step).outcome).toBe("terminated");
      if (existsSync(pidFile)) expect(isAlive(Number(readFileSync(pidFile, "utf8")))).toBe(false);
    }
  });
});

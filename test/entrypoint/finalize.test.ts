import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  fileAppears,
  makeStepFolder,
  readMarker,
  run,
  shell,
  start,
  writeHook,
} from "./harness.ts";

describe("the finalize phase (WV-15)", () => {
  it("runs hooks in name order, after the agent and before the marker; they may write variables", async () => {
    const step = makeStepFolder();
    const note = `[ -e "${step.root}/.done" ] || basename "$0" >> "${step.own}/ORDER"`;
    for (const name of ["B", "20-b", "a", "10-z", "9-first"]) writeHook(step, name, note);
    const ended = await run(step, shell(`echo agent >> "${step.own}/ORDER"`));
    expect(ended.code).toBe(0);
    expect(readFileSync(join(step.own, "ORDER"), "utf8").trim().split("\n")).toEqual([
      "agent",
      "10-z",
      "20-b",
      "9-first",
      "B",
      "a",
    ]);
    expect(readMarker(step).finalize).toEqual({ status: "succeeded", failed: [] });
  });

  it.each([
    ["exit 0", "0||succeeded"],
    ["exit 4", "4||failed"],
    ["kill -KILL $$", "137|SIGKILL|failed"],
  ])("tells hooks how the agent ended: %s", async (script, told) => {
    const step = makeStepFolder();
    const print = 'printf %s "$WFVAR_EXIT_CODE|$WFVAR_EXIT_SIGNAL|$WFVAR_OUTCOME"';
    writeHook(step, "tell", `${print} > "${step.own}/TOLD"`);
    await run(step, shell(script));
    expect(readFileSync(join(step.own, "TOLD"), "utf8")).toBe(told);
  });

  it("prints hooks' output to stderr, because stdout is the agent's answer", async () => {
    const step = makeStepFolder();
    writeHook(step, "loud", "echo out; echo err >&2");
    const ended = await run(step, shell("echo answer"));
    expect(ended).toMatchObject({ stdout: "answer\n", stderr: "out\nerr\n" });
  });

  it("goes on after a failed hook, and changes no exit code; the marker names the failed", async () => {
    const step = makeStepFolder();
    writeHook(step, "10-exits", "exit 3");
    writeHook(step, "20-dies", "kill -SEGV $$");
    writeFileSync(join(step.hooks, "30-no-interpreter"), "#!/no/such/interpreter\n", {
      mode: 0o755,
    });
    writeHook(step, "40-runs", `touch "${step.own}/RAN"`);
    const ended = await run(step, shell("exit 0"));
    expect(ended.code).toBe(0);
    expect(readMarker(step)).toMatchObject({
      outcome: "succeeded",
      finalize: { status: "failed", failed: ["10-exits", "20-dies", "30-no-interpreter"] },
    });
    expect(readFileSync(join(step.own, "RAN"), "utf8")).toBe("");
    expect(ended.stderr).toBe(
      "entrypoint: warning: finalize hook 10-exits exited with 3\n" +
        "entrypoint: warning: finalize hook 20-dies was ended by SIGSEGV\n" +
        "entrypoint: warning: finalize hook 30-no-interpreter could not be started: ENOENT\n",
    );
  });

  it("kills the hook that runs when the common time is up, with its children; the rest do not run", async () => {
    const step = makeStepFolder();
    writeHook(step, "10-quick", "exit 0");
    writeHook(step, "20-slow", `(sleep 1.5; touch "${step.own}/LATE") & sleep 60`);
    writeHook(step, "30-after", `touch "${step.own}/LATE"`);
    const ended = await run(step, shell("exit 0"), { env: { WFVAR_FINALIZE_TIMEOUT: "500ms" } });
    expect(ended.code).toBe(0);
    expect(readMarker(step).finalize).toEqual({
      status: "timed_out",
      failed: ["20-slow", "30-after"],
    });
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(() => readFileSync(join(step.own, "LATE"))).toThrow(/ENOENT/);
  });

  it("leaves no child of a hook behind", async () => {
    const step = makeStepFolder();
    writeHook(step, "forks", `(sleep 0.4; touch "${step.own}/LATE") >/dev/null 2>&1 &`);
    await run(step, shell("exit 0"));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(() => readFileSync(join(step.own, "LATE"))).toThrow(/ENOENT/);
  });

  it("has 5 s left when TERM comes while a hook runs; the agent's outcome stays", async () => {
    const step = makeStepFolder();
    writeHook(step, "slow", `touch "${step.own}/READY"; exec sleep 60`);
    const agent = start(step, shell("exit 0"));
    await fileAppears(join(step.own, "READY"));
    const sent = performance.now();
    agent.kill("SIGTERM");
    expect((await agent.ended).code).toBe(0);
    expect(performance.now() - sent).toBeGreaterThanOrEqual(4900);
    expect(performance.now() - sent).toBeLessThan(8000);
    expect(readMarker(step)).toMatchObject({
      outcome: "succeeded",
      finalize: { status: "timed_out", failed: ["slow"] },
    });
  });

  it("has 5 s in all where TERM came before it", async () => {
    const step = makeStepFolder();
    writeHook(step, "slow", `date +%s%N > "${step.own}/BEGAN"; exec sleep 60`);
    const agent = start(step, shell(`touch "${step.own}/READY"; exec sleep 60`));
    await fileAppears(join(step.own, "READY"));
    agent.kill("SIGTERM");
    expect((await agent.ended).code).toBe(143);
    const ranMs = Date.now() - Number(readFileSync(join(step.own, "BEGAN"), "utf8")) / 1e6;
    expect(ranMs).toBeGreaterThan(4500);
    expect(ranMs).toBeLessThan(8000);
    expect(readMarker(step)).toMatchObject({
      outcome: "terminated",
      finalize: { status: "timed_out", failed: ["slow"] },
    });
  });

  it("runs for a terminated agent and for one that could not be started", async () => {
    const step = makeStepFolder();
    writeHook(step, "tell", `printf %s "$WFVAR_EXIT_CODE|$WFVAR_OUTCOME" > "${step.own}/TOLD"`);
    await run(step, ["no-such-command-anywhere"]);
    expect(readFileSync(join(step.own, "TOLD"), "utf8")).toBe("127|failed");
    rmSync(join(step.root, ".done"));
    await run(step, shell("true"), {
      preload: "signal-after-handlers.ts",
      env: { TEST_SIGNAL: "SIGTERM" },
    });
    expect(readFileSync(join(step.own, "TOLD"), "utf8")).toBe("143|terminated");
  });

  it("follows links, passes over folders and dotfiles, as a mounted ConfigMap has them; warns of a missing x bit", async () => {
    const step = makeStepFolder();
    const data = join(step.hooks, "..2026_01_01");
    mkdirSync(data);
    writeFileSync(join(data, "push"), `#!/bin/sh\ntouch "${step.own}/PUSHED"\n`, { mode: 0o755 });
    symlinkSync("..2026_01_01", join(step.hooks, "..data"));
    symlinkSync("..data/push", join(step.hooks, "push"));
    symlinkSync("..data/gone", join(step.hooks, "dangling"));
    mkdirSync(join(step.hooks, "folder"));
    writeHook(step, "forgotten", "exit 9", 0o644);
    writeHook(step, ".hidden", "exit 9");
    const ended = await run(step, shell("exit 0"));
    expect(readMarker(step).finalize).toEqual({ status: "succeeded", failed: [] });
    expect(readFileSync(join(step.own, "PUSHED"), "utf8")).toBe("");
    expect(ended.stderr.trim().split("\n").toSorted()).toEqual([
      "entrypoint: warning: finalize hook dangling is passed over: ENOENT",
      "entrypoint: warning: finalize hook forgotten is passed over: EACCES",
    ]);
  });

  it.each<[string, string, string]>([
    ["that is missing is no phase", "missing", "none"],
    ["that is empty is no phase", "finalize.d", "none"],
    ["that is a file is a failed phase", "file", "failed"],
  ])("a finalize folder %s", async (_, name, status) => {
    const step = makeStepFolder();
    writeFileSync(join(step.base, "file"), "");
    const dir = join(step.base, name);
    const ended = await run(step, shell("exit 0"), { env: { WFVAR_FINALIZE_DIR: dir } });
    expect(ended.code).toBe(0);
    expect(readMarker(step).finalize).toEqual({ status, failed: [] });
  });
});

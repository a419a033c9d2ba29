import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  fileAppears,
  isAlive,
  mainFile,
  makeStepFolder,
  readMarker,
  type StepFolder,
} from "./harness.ts";

const onTerminal = join(import.meta.dirname, "fixtures", "on-terminal.py");

function environment(step: StepFolder): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    WORKFLOW_VARIABLES_ROOT: step.root,
    WORKFLOW_VARIABLES_SELF: step.own,
    WFVAR_FINALIZE_DIR: step.hooks,
  };
}

/** Runs a shell script under the entrypoint on a pseudo-terminal, typing as told. */
function type(step: StepFolder, script: string, ...pairs: readonly string[]) {
  const argv = [onTerminal, ...pairs, "--", process.execPath, mainFile, "--", "sh", "-c", script];
  const { status, stdout } = spawnSync("python3", argv, {
    env: environment(step),
    encoding: "utf8",
  });
  return { status, stdout };
}

/** The pseudo-terminal is Python's `pty`. */
const hasPty = spawnSync("python3", ["-c", "import pty"]).status === 0;

describe.runIf(hasPty)("on a terminal, as with `docker run -it` (WV-15)", () => {
  it("Ctrl-C reaches the agent once, and does not end one that lives on", () => {
    const step = makeStepFolder();
    const script = `trap 'n=$((n+1)); echo "interrupt $n"' INT; echo ready; read a; read b; echo "read $b"; exit 5`;
    const { status, stdout } = type(step, script, "ready=^C", "interrupt=one\\n", "one=two\\n");
    expect(stdout).toContain("interrupt 1");
    expect(stdout).not.toContain("interrupt 2");
    expect(stdout).toMatch(/read (one|two)/);
    expect(status).toBe(5);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 5, signal: null });
  });

  it("Ctrl-C ends an agent that does not mind it, and the step ends well", () => {
    const step = makeStepFolder();
    const { status } = type(step, "echo ready; exec sleep 30", "ready=^C");
    expect(status).toBe(130);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 130, signal: "SIGINT" });
  });

  it("the agent owns the terminal", () => {
    const step = makeStepFolder();
    const { status, stdout } = type(
      step,
      'test -t 0 && test -t 1 && echo yes; read line; echo "got $line"',
      "yes=hello\\n",
    );
    expect([status, stdout.includes("got hello")]).toEqual([0, true]);
  });

  it("no response is captured: the agent keeps the terminal, and one line says so", () => {
    const step = makeStepFolder();
    const argv = [onTerminal, "--", process.execPath, mainFile, "--capture-response", "--"];
    const { status, stdout } = spawnSync("python3", [...argv, "sh", "-c", "test -t 1 && exit 3"], {
      env: environment(step),
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([
      3,
      "entrypoint: warning: the response is not captured: the agent has the terminal\r\n",
    ]);
    expect(readdirSync(step.own)).toEqual([]);
  });

  it("TERM goes to the agent alone, and what it left behind is left alone", async () => {
    const step = makeStepFolder();
    const script = `(trap '' HUP; sleep 5) & echo $! > ${step.own}/.left; trap 'exit 9' TERM; touch ${step.own}/READY; while :; do sleep 0.05; done`;
    const argv = [onTerminal, "--", process.execPath, mainFile, "--", "sh", "-c", script];
    const terminal = spawn("python3", argv, { env: environment(step), stdio: "ignore" });
    const ended = new Promise((resolve) => terminal.once("exit", resolve));
    await fileAppears(join(step.own, "READY"));
    const children = readFileSync(
      `/proc/${String(terminal.pid)}/task/${String(terminal.pid)}/children`,
      "utf8",
    );
    process.kill(Number(children.trim()), "SIGTERM");
    await fileAppears(join(step.root, ".done"));
    const left = Number(readFileSync(join(step.own, ".left"), "utf8"));
    expect(isAlive(left)).toBe(true);
    process.kill(left, "SIGKILL");
    expect(await ended).toBe(9);
    expect(readMarker(step)).toMatchObject({ outcome: "terminated", exit_code: 9 });
  });
});

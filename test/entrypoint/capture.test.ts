import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { TextTail } from "../../entrypoint/text-tail.ts";
import {
  fileAppears,
  mainFile,
  makeStepFolder,
  readMarker,
  run,
  shell,
  type StepFolder,
} from "./harness.ts";

const capture = { env: { WFVAR_CAPTURE_RESPONSE: "true" } };

function value(step: StepFolder, name: string): string {
  return readFileSync(join(step.own, name), "utf8");
}

function limitValues(step: StepFolder, maxValueBytes: number): void {
  writeFileSync(
    join(step.root, ".step"),
    JSON.stringify({ limits: { max_value_bytes: maxValueBytes } }),
  );
}

describe("--capture-response (WV-15)", () => {
  it("passes both outputs on and keeps them as variables", async () => {
    const step = makeStepFolder();
    const { code, stdout, stderr } = await run(
      step,
      shell("echo said; echo grumbled >&2; exit 4"),
      capture,
    );
    expect([code, stdout, stderr]).toEqual([4, "said\n", "grumbled\n"]);
    expect([value(step, "RESPONSE"), value(step, "FAILURE")]).toEqual(["said\n", "grumbled\n"]);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 4 });
  });

  it("takes the flag too, and leaves no FAILURE where nothing was complained of", async () => {
    const step = makeStepFolder();
    const args = ["--capture-response", "--", "sh", "-c", "echo said"];
    expect((await run(step, [], { args })).stdout).toBe("said\n");
    expect(value(step, "RESPONSE")).toBe("said\n");
    expect(() => value(step, "FAILURE")).toThrow(/ENOENT/);
  });

  it("lets the agent write to /dev/stdout and /dev/stderr by name", async () => {
    const step = makeStepFolder();
    const script = "echo one > /dev/stdout; echo two >> /dev/stdout; echo three > /dev/stderr";
    const { stdout, stderr } = await run(step, shell(script), capture);
    expect([stdout, stderr]).toEqual(["one\ntwo\n", "three\n"]);
    expect(value(step, "RESPONSE")).toBe("one\ntwo\n");
  });

  it("keeps the tail within the value limit, and stderr's last 4 KiB", async () => {
    const step = makeStepFolder();
    limitValues(step, 5000);
    const script = "seq 1 2000; seq 1 5000 >&2";
    const { stdout } = await run(step, shell(script), capture);
    expect(stdout.endsWith("1999\n2000\n")).toBe(true);
    expect(value(step, "RESPONSE")).toBe(stdout.slice(-5000));
    expect(value(step, "FAILURE")).toHaveLength(4096);
    expect(value(step, "FAILURE").endsWith("4999\n5000\n")).toBe(true);
  });

  it("replaces a RESPONSE that the agent wrote itself, in any spelling", async () => {
    const step = makeStepFolder();
    await run(step, shell(`echo mine > ${step.own}/response; echo said`), capture);
    expect(readFileSync(join(step.own, "response"), "utf8")).toBe("said\n");
  });

  it("gives the agent back what its environment held", async () => {
    const step = makeStepFolder();
    const { stdout } = await run(step, shell("env | grep -c ^WFVAR_; true"), capture);
    expect(stdout).toBe("0\n");
  });

  it("waits no longer than a second for an output that a daemon holds", async () => {
    const step = makeStepFolder();
    const script = "setsid sh -c 'sleep 30' & echo said";
    const { ms, code } = await run(step, shell(script), capture);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(20_000);
    expect(value(step, "RESPONSE")).toBe("said\n");
  });

  it("still leaves a marker where the command cannot be started", async () => {
    const step = makeStepFolder();
    expect((await run(step, ["/no/such/command"], capture)).code).toBe(127);
    expect(readMarker(step)).toMatchObject({ exit_code: 127 });
  });

  it("ends an agent whose output nobody reads, at its grace", async () => {
    const step = makeStepFolder();
    const child = spawn(
      process.execPath,
      [mainFile, "--capture-response", "--agent-grace", "300ms", "--", "yes"],
      {
        env: {
          PATH: process.env["PATH"],
          WORKFLOW_VARIABLES_ROOT: step.root,
          WORKFLOW_VARIABLES_SELF: step.own,
          WFVAR_FINALIZE_DIR: step.hooks,
        },
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    await fileAppears(join(step.root, ".started"));
    // Time enough to fill every buffer on the way.
    await new Promise((resolve) => setTimeout(resolve, 700));
    child.kill("SIGTERM");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(readMarker(step)).toMatchObject({ outcome: "terminated", signal: "SIGTERM" });
  });
});

describe("the tail of a text", () => {
  it.each([
    ["short enough", "abc", 3, "abc"],
    ["cut", "abcdef", 3, "def"],
    ["cut inside a character", "a\u{1f600}b", 4, "b"],
    ["cut between characters", "a\u{1f600}b", 5, "\u{1f600}b"],
    ["nothing", "", 5, ""],
  ])("%s", (_, text, maxBytes, expected) => {
    const tail = new TextTail(maxBytes);
    for (const byte of Buffer.from(text)) tail.push(Buffer.from([byte]));
    expect(tail.bytes().toString()).toBe(expected);
  });

  it("replaces what is no UTF-8, and stays within its limit", () => {
    const tail = new TextTail(10);
    tail.push(Buffer.alloc(50, 0xff));
    expect(tail.bytes().toString()).toBe("\ufffd".repeat(3));
  });
});

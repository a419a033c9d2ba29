import { closeSync, constants, openSync, readdirSync, readFileSync } from "node:fs";
import { EventEmitter } from "node:events";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runAgent } from "../../entrypoint/agent.ts";
import { openInput } from "../../entrypoint/input-file.ts";
import { Signals } from "../../entrypoint/signals.ts";
import { makeStepFolder, shell, type StepFolder } from "./harness.ts";

/** Runs an agent with these bytes as its stdin. */
function runWithInput(step: StepFolder, input: Buffer, script: string) {
  const rootFd = openSync(step.root, constants.O_RDONLY | constants.O_DIRECTORY);
  onTestFinished(() => closeSync(rootFd));
  const stdin = openInput(rootFd, input);
  onTestFinished(() => closeSync(stdin));
  const [file = "", ...args] = shell(script);
  return runAgent([file, ...args], {
    env: { PATH: process.env["PATH"], OWN: step.own },
    graceMs: 1000,
    signals: new Signals(new EventEmitter(), { onTerminal: false }),
    onTerminal: false,
    stdin,
    capture: undefined,
  });
}

describe("an agent's given stdin (WV-15)", () => {
  const input = Buffer.from(`${"a\0\xff\n".repeat(50_000)}end`, "latin1");

  it.each([
    ["as stdin", 'cat > "$OWN/READ"'],
    ["by the name /dev/stdin", 'cat /dev/stdin > "$OWN/READ"'],
  ])("is these bytes and then its end, read %s", async (_, script) => {
    const step = makeStepFolder();
    expect((await runWithInput(step, input, script)).exitCode).toBe(0);
    expect(readFileSync(join(step.own, "READ"))).toEqual(input);
  });

  it.each([
    ["nothing", 0],
    ["more than it reads", 1024 ** 2],
  ])("may be %s", async (_, bytes) => {
    const step = makeStepFolder();
    const end = await runWithInput(step, Buffer.alloc(bytes, "x"), "head -c 1 | wc -c; exit 3");
    expect(end).toMatchObject({ outcome: "failed", exitCode: 3 });
  });

  it("leaves no file", async () => {
    const step = makeStepFolder();
    await runWithInput(step, input, "true");
    expect(readdirSync(step.root).toSorted()).toEqual([".self", "judge"]);
  });
});

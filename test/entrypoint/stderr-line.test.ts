import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { mainFile, makeStepFolder, readMarker, run, shell, writeHook } from "./harness.ts";

const launcher = ["sh", "-c", 'exec "$@" 2> "$FIFO"', "sh", process.execPath, mainFile] as const;

describe("what the entrypoint has to say (WV-15)", () => {
  it("never holds the step back, though stderr is full and nobody reads it", async () => {
    const step = makeStepFolder();
    const fifo = join(step.base, "stderr");
    spawnSync("mkfifo", [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(reader));
    writeHook(step, "fails", "exit 1");
    // Fills the pipe to its last byte, and no further.
    const agent = shell("head -c 65536 /dev/zero >&2");
    expect((await run(step, agent, { launcher, env: { FIFO: fifo } })).code).toBe(0);
    expect(readMarker(step).finalize).toEqual({ status: "failed", failed: ["fails"] });
    const printed = Buffer.alloc(70_000);
    expect(readSync(reader, printed)).toBe(65_536);
  });

  it("is there where somebody reads, and the pipe it shares stays a blocking one", async () => {
    const step = makeStepFolder();
    writeHook(step, "10-fails", "exit 1");
    // 1 MiB into a blocking pipe with a slow reader: a non-blocking one would refuse most of it.
    writeHook(step, "20-prints", "head -c 1048576 /dev/zero | tr '\\0' x");
    const slow = [...launcher] as [string, ...string[]];
    slow[2] = '"$@" 2>&1 >/dev/null | { sleep 0.5; cat; }';
    const { stdout } = await run(step, shell("true"), { launcher: slow });
    expect(stdout).toBe(
      `entrypoint: warning: finalize hook 10-fails exited with 1\n${"x".repeat(1024 ** 2)}`,
    );
  });
});

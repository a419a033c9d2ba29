#!/usr/bin/env node
import type { SidecarCode } from "../contract/codes.ts";
import { watchForInterruption } from "./interruption.ts";
import { steadyNow } from "./steady-clock.ts";

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`wfvar-sidecar needs Node 24 or later; this is ${process.versions.node}\n`);
  process.exit(2);
}

// Handlers stand before anything else is loaded: a signal in between would kill the sidecar and lose the
// step.
const interruption = watchForInterruption(process, steadyNow);
const [{ run }, { SidecarError }, { Output }] = await Promise.all([
  import("./run.ts"),
  import("./sidecar-error.ts"),
  import("./output.ts"),
]);

const exitCodes: Record<SidecarCode, number> = {
  config_invalid: 2,
  refused: 10,
  prefill_invalid: 10,
  prefill_too_large: 10,
  not_delivered: 11,
  volume_unusable: 12,
};

/**
 * Ends at once: a process that lets its event loop run out gives up its signal handlers some milliseconds
 * before it is gone, and a SIGTERM then would spoil its exit code.
 */
process.exit(await runToExitCode());

async function runToExitCode(): Promise<number> {
  const output = new Output(() => process.stdout);
  let exitCode = 0;
  try {
    await run({
      argv: process.argv.slice(2),
      env: process.env,
      interruption,
      print: (text) => output.print(text),
      printError: (text) => process.stderr.write(text),
      readStdin: async () => (await import("node:stream/consumers")).text(process.stdin),
    });
  } catch (error) {
    if (!(error instanceof SidecarError)) throw error;
    exitCode = exitCodes[error.code];
  }
  const errno = await output.finish();
  if (errno === undefined) return exitCode;
  process.stderr.write(`wfvar-sidecar: stdout cannot be written: ${errno}\n`);
  return exitCodes.volume_unusable;
}

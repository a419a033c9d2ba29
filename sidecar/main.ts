#!/usr/bin/env node
import { watchForInterruption } from "./interruption.ts";

// Handlers stand before anything else is loaded: a signal in between would kill the sidecar and lose the step.
const interruption = watchForInterruption(process, Date.now);
const [{ run }, { SidecarError }] = await Promise.all([
  import("./run.ts"),
  import("./sidecar-error.ts"),
]);

try {
  await run({
    argv: process.argv.slice(2),
    env: process.env,
    interruption,
    print: (text) => process.stdout.write(text),
  });
} catch (error) {
  if (!(error instanceof SidecarError)) throw error;
  switch (error.code) {
    case "config_invalid":
      process.exitCode = 2;
      break;
    case "refused":
    case "prefill_invalid":
    case "prefill_too_large":
      process.exitCode = 10;
      break;
    case "not_delivered":
      process.exitCode = 11;
      break;
    case "volume_unusable":
      process.exitCode = 12;
      break;
  }
}

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { StampedStep } from "../../contract/wire.ts";
import { runStepProcess, type StepExit } from "../../controlplane/runner/process-runner.ts";
import { dist } from "../support/dist.ts";
import { tempFolder } from "../support/temp-folder.ts";

export interface StepRun extends StepExit {
  readonly lines: readonly string[];
}

/** Runs one stamped step with the built entrypoint and sidecar. */
export async function runStep(
  stepUrl: string,
  stamped: StampedStep,
  script: string,
): Promise<StepRun> {
  const lines: string[] = [];
  const deps = {
    node: process.execPath,
    sidecar: join(dist, "sidecar", "main.mjs"),
    kitDir: join(dist, "agent"),
    workflowDir: import.meta.dirname,
    cpUrl: stepUrl,
    env: process.env,
  };
  const exit = await runStepProcess(deps, {
    token: stamped.token,
    step: stamped.step,
    env: stamped.env,
    script,
    folder: mkdtempSync(join(tempFolder(), "step-")),
    onLine: (line) => lines.push(line),
    onTrouble: (text) => lines.push(`sidecar ${text}`),
    signal: new AbortController().signal,
  });
  return { ...exit, lines };
}

import { join, resolve } from "node:path";
import { escapeText } from "../../contract/escape.ts";
import { version } from "../../contract/version.ts";
import { limitsOf } from "../../contract/limit-settings.ts";
import { createLog } from "../log.ts";
import { makeFolder } from "../make-folder.ts";
import { openControlPlane, type ControlPlane } from "../control-plane.ts";
import { removeFolder } from "../runner/remove-folder.ts";
import { runStepProcess, type ProcessRunnerDeps } from "../runner/process-runner.ts";
import { inputsStep, type StepRecord, type ValueRecord } from "../store/store.ts";
import type { VariablesService } from "../variables/variables-service.ts";
import { runWorkflow, type Progress, type WorkflowEnd } from "../workflow/run-workflow.ts";
import { parseRunArguments, runHelp, type RunArguments } from "./run-arguments.ts";
import { formatSeconds, RunLog } from "./run-log.ts";
import { stopOf } from "./stop-reason.ts";
import { explaining } from "./usage-error.ts";
import { formatTable } from "./value-table.ts";

/** Bytes of a value that its preview is made from. */
const previewBytes = 512;
const pageSize = 1000;

export interface RunCommandDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly node: string;
  /** What a build makes: holds agent/ and sidecar/. */
  readonly distDir: string;
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
  /** Aborts when the run is to stop, with a StopReason. */
  readonly signal: AbortSignal;
}

/**
 * `wfvar-cp run`: validates a workflow, runs it here, and shows what it holds at the end. Resolves with
 * the exit code: 0 where it succeeded.
 */
export async function runCommand(argv: readonly string[], deps: RunCommandDeps): Promise<number> {
  const parsed = await parseRunArguments(argv, deps.env);
  if (parsed.show !== undefined) {
    deps.out.write(parsed.show === "help" ? runHelp : `${version}\n`);
    return 0;
  }
  const { run } = parsed;
  deps.err.write(run.warnings);
  const dataDir = resolve(run.settings.dataDir);
  const log = createLog("error");
  const options = {
    ...run.settings,
    dataDir,
    log,
    limits: limitsOf(run.settings),
  };
  await using cp = await explaining(`the data folder ${dataDir} cannot be used`, () =>
    openControlPlane(options),
  );
  const cpUrl = await cp.stepApi.listen({ host: "127.0.0.1", port: 0 });
  return await runInto(cp, run, dataDir, cpUrl, deps);
}

async function runInto(
  cp: ControlPlane,
  { graph, template, workflowDir, inputs }: RunArguments,
  dataDir: string,
  cpUrl: string,
  { env, node, distDir, out, err, signal }: RunCommandDeps,
): Promise<number> {
  const runner: ProcessRunnerDeps = {
    node,
    sidecar: join(distDir, "sidecar", "main.mjs"),
    kitDir: join(distDir, "agent"),
    workflowDir,
    cpUrl,
    env,
  };
  const steps = [...graph.nodes.values()].filter((each) => each.kind === "script");
  const log = new RunLog(
    steps.map(({ id }) => id),
    Date.now,
    (text) => out.write(text),
  );
  const startedAt = new Map<string, number>();
  const end = await runWorkflow(graph, template, inputs, {
    service: cp.service,
    now: Date.now,
    signal,
    onProgress: (progress) => report(progress, log, startedAt, template),
    runStep: async (stamped, { id, script }) => {
      const folder = stepFolder(dataDir, stamped.step);
      await makeFolder(folder);
      const onLine = (line: string): void => log.say(id, `| ${line}`);
      const onTrouble = (text: string): void => log.say(id, `sidecar ${text}`);
      const { token, env: stepEnv } = stamped;
      const step = stamped.step.step;
      return runStepProcess(runner, {
        token,
        step,
        env: stepEnv,
        script,
        folder,
        onLine,
        onTrouble,
        signal,
      });
    },
  });
  out.write(`\n${await tableOf(cp.service, end.run, out.columns ?? 120)}\n`);
  return conclude(end, log, join(dataDir, "steps", end.run), { out, err, signal });
}

function report(
  progress: Progress,
  log: RunLog,
  startedAt: Map<string, number>,
  template: string,
): void {
  switch (progress.type) {
    case "run_created":
      return log.say("run", `${progress.run.run} of ${template}`);
    case "step_started":
      startedAt.set(progress.step, log.elapsedMs());
      return log.say(progress.step, "started");
    case "step_ended": {
      const { step, accepted } = progress.step;
      const took = formatSeconds(log.elapsedMs() - (startedAt.get(step) ?? 0));
      if (accepted === null) return log.say(step, `not delivered after ${took}`);
      const { receipt } = accepted;
      const values = `${String(receipt.accepted)} ${receipt.accepted === 1 ? "value" : "values"}`;
      return log.say(step, `${receipt.status} in ${took}, ${values}`);
    }
  }
}

async function* everyValue(service: VariablesService, run: string): AsyncGenerator<ValueRecord> {
  let after: string | undefined;
  do {
    const page = await service.runs.listValues(run, { prefix: "", limit: pageSize, after });
    yield* page;
    after = page.length < pageSize ? undefined : page.at(-1)?.key;
  } while (after !== undefined);
}

async function tableOf(service: VariablesService, run: string, width: number): Promise<string> {
  const rows = [];
  for await (const value of everyValue(service, run)) {
    const { key, step, size } = value;
    const bytes = await service.runs.readValue(value);
    const setBy = step === inputsStep ? "input" : step;
    rows.push({ key, setBy, size, head: bytes.subarray(0, previewBytes) });
  }
  return formatTable(rows, width);
}

/**
 * The last line. The folders of a failed run stay, to be looked into; its values are in the store in any
 * case.
 */
async function conclude(
  { state }: WorkflowEnd,
  log: RunLog,
  folder: string,
  { out, err, signal }: Pick<RunCommandDeps, "out" | "err" | "signal">,
): Promise<number> {
  const took = formatSeconds(log.elapsedMs());
  if (state.status === "failed") {
    const { step, reason } = state;
    if (signal.aborted) {
      // Whatever the step died of, this is why.
      const { verb, why, exitCode } = stopOf(signal);
      err.write(`${verb} after ${took} in step ${step}${why} (its folder: ${folder}/${step}.1)\n`);
      return exitCode;
    }
    err.write(
      `failed after ${took}: ${step}: ${escapeText(reason)} (its folder: ${folder}/${step}.1)\n`,
    );
    return 1;
  }
  await removeFolder(folder).catch((error: unknown) => {
    // The run succeeded all the same, and its values are stored.
    err.write(`the folders of the run could not be removed: ${folder} (${String(error)})\n`);
  });
  out.write(`succeeded in ${took}\n`);
  return 0;
}

function stepFolder(dataDir: string, { run, step, attempt }: StepRecord): string {
  return join(dataDir, "steps", run, `${step}.${String(attempt)}`);
}

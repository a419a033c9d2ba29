import type { RunRecord, StepRecord } from "../store/store.ts";
import type { StepExit } from "../runner/process-runner.ts";
import type { Stamped, VariablesService } from "../variables/variables-service.ts";
import { dependsOn } from "./depends-on.ts";
import { advance, type RunEvent, type RunState } from "./engine.ts";
import type { ScriptStep, WorkflowGraph } from "./graph.ts";

export type Progress =
  | { readonly type: "run_created"; readonly run: RunRecord }
  | { readonly type: "step_started"; readonly step: string }
  | { readonly type: "step_ended"; readonly step: StepRecord };

export interface WorkflowRunDeps {
  readonly service: VariablesService;
  /** Runs one step to its end. */
  readonly runStep: (stamped: Stamped, step: ScriptStep) => Promise<StepExit>;
  readonly onProgress: (progress: Progress) => void;
  readonly now: () => number;
  /** Aborts when the run is to stop; no further step is then started. */
  readonly signal: AbortSignal;
}

export interface WorkflowEnd {
  readonly run: string;
  readonly state: RunState;
}

/**
 * Runs a workflow from its start to its end: one step at a time, each over what the control plane lets it
 * see.
 */
export async function runWorkflow(
  graph: WorkflowGraph,
  template: string,
  inputs: ReadonlyMap<string, string>,
  deps: WorkflowRunDeps,
): Promise<WorkflowEnd> {
  const { service, onProgress, signal } = deps;
  const { run } = await service.createRun({
    template,
    item: {},
    artifacts: {},
    inputs: Object.fromEntries(inputs),
    limits: {},
    missing_output: "warn",
  });
  onProgress({ type: "run_created", run });
  let state = advance(graph, { status: "created" }, { type: "run_started" });
  while (state.status === "running") {
    const node = graph.nodes.get(state.step);
    if (node?.kind !== "script")
      throw new Error(`the engine chose ${state.step}, which runs nothing`);
    const event: RunEvent = signal.aborted
      ? { type: "step_failed", step: node.id, reason: "stopped before it was started" }
      : await runOneStep(graph, run.run, node, deps);
    state = advance(graph, state, event);
  }
  return { run: run.run, state };
}

async function runOneStep(
  graph: WorkflowGraph,
  run: string,
  node: ScriptStep,
  { service, runStep, onProgress, now }: WorkflowRunDeps,
): Promise<RunEvent> {
  const { id, timeoutMs } = node;
  const stamped = await service.stampStep(run, {
    step: id,
    depends_on: [...dependsOn(graph, id)],
    outputs: [],
    ...(timeoutMs === undefined ? {} : { deadline: new Date(now() + timeoutMs).toISOString() }),
  });
  onProgress({ type: "step_started", step: id });
  const exit = await runStep(stamped, node);
  const record = await service.runs.getStep(stamped.step);
  onProgress({ type: "step_ended", step: record });
  const reason = failureOf(record, exit);
  return reason === undefined
    ? { type: "step_succeeded", step: id }
    : { type: "step_failed", step: id, reason };
}

/** Why the step failed, from what the control plane accepted; undefined where it succeeded. */
function failureOf(
  { accepted }: StepRecord,
  { agent, sidecar, lastLine }: StepExit,
): string | undefined {
  if (accepted === null) {
    return agent === null
      ? `its inputs could not be written (sidecar exit ${String(sidecar)})`
      : `its values were not delivered (sidecar exit ${String(sidecar)})`;
  }
  const { status, cause } = accepted.receipt;
  if (status === "succeeded") return undefined;
  const said = lastLine === undefined ? "" : `: ${lastLine}`;
  return `${cause?.message ?? "it failed"}${said}`;
}

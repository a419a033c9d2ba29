import type { WorkflowGraph } from "./graph.ts";
import { route } from "./route.ts";

/**
 * The engine is a pure function: (graph, state, event) to (state, command). It holds no clock, store or
 * process (G-6).
 */

export type RunState =
  | { readonly status: "created" }
  | { readonly status: "running"; readonly step: string }
  | { readonly status: "succeeded" }
  | { readonly status: "failed"; readonly step: string; readonly reason: string };

export type RunEvent =
  | { readonly type: "run_started" }
  | { readonly type: "step_succeeded"; readonly step: string }
  | { readonly type: "step_failed"; readonly step: string; readonly reason: string };

/**
 * Applies an event. The new state says what to do next: run the step it names, or nothing more. An event that
 * does not fit the state changes nothing.
 */
export function advance(graph: WorkflowGraph, state: RunState, event: RunEvent): RunState {
  if (event.type === "run_started") {
    return state.status === "created" ? follow(graph, graph.start) : state;
  }
  if (state.status !== "running" || state.step !== event.step) return state;
  if (event.type === "step_failed") {
    return { status: "failed", step: event.step, reason: event.reason };
  }
  return follow(graph, event.step);
}

function follow(graph: WorkflowGraph, from: string): RunState {
  const edge = route(graph, from);
  if (edge === undefined) return { status: "failed", step: from, reason: "no edge leads on" };
  return edge.to === graph.exit ? { status: "succeeded" } : { status: "running", step: edge.to };
}

import type { WorkflowEdge, WorkflowGraph } from "./graph.ts";

/**
 * The edge that a run follows after `step` succeeded, or undefined where none leaves it (G-4, unconditional
 * edges): highest weight, then target id, then source order. The validator and the engine both ask here.
 */
export function route(
  graph: Pick<WorkflowGraph, "outgoing">,
  step: string,
): WorkflowEdge | undefined {
  let chosen: WorkflowEdge | undefined;
  for (const edge of graph.outgoing.get(step) ?? []) {
    if (chosen === undefined || goesBefore(edge, chosen)) chosen = edge;
  }
  return chosen;
}

function goesBefore(a: WorkflowEdge, b: WorkflowEdge): boolean {
  return a.weight === b.weight ? a.to < b.to : a.weight > b.weight;
}

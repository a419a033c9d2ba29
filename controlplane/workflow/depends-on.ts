import type { WorkflowGraph } from "./graph.ts";

/**
 * The steps whose outputs `step` sees (G-1, WV-9): every executed step with an edge into it, each once, in
 * source order of the edges. The start runs nothing, so nothing lies behind it. A step does not depend on
 * itself.
 */
export function dependsOn(
  graph: Pick<WorkflowGraph, "nodes" | "incoming">,
  step: string,
): readonly string[] {
  const sources = (graph.incoming.get(step) ?? [])
    .map((edge) => edge.from)
    .filter((from) => from !== step && graph.nodes.get(from)?.kind === "script");
  return [...new Set(sources)];
}

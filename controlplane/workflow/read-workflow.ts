import { checkAttributes } from "./check-attributes.ts";
import { checkEnds } from "./check-ends.ts";
import { checkReach } from "./check-reach.ts";
import { checkRouting } from "./check-routing.ts";
import type { DeclaredInput } from "./declared-input.ts";
import type { DotGraph } from "./dot/dot-graph.ts";
import { readDot } from "./dot/read-dot.ts";
import { offsetAt } from "./dot/source-text.ts";
import { FindingList } from "./finding-list.ts";
import type { Finding } from "./finding.ts";
import { edgesBy, type WorkflowGraph } from "./graph.ts";
import { parseInputs } from "./parse-inputs.ts";
import { readEdge } from "./read-edge.ts";
import { readNode, type NodeReading } from "./read-node.ts";

export type ReadWorkflow =
  | {
      readonly graph: WorkflowGraph;
      /** In source order. */
      readonly warnings: readonly Finding[];
    }
  | {
      /** Errors, at least one, and warnings, in source order. */
      readonly findings: readonly Finding[];
    };

/**
 * Reads and validates a workflow file (G-1, G-5): everything that is wrong with it at once, or the graph that
 * the engine runs. `fileName` is only shown. Never throws for what stands in the file.
 */
export function readWorkflow(source: string, fileName: string): ReadWorkflow {
  const findings = new FindingList(source, fileName);
  const { graph: dot, problems } = readDot(source);
  for (const { code, offset, message } of problems) findings.add(code, offset, message);
  const graph = dot === undefined ? undefined : readGraph(dot, findings);
  return graph === undefined || findings.hasErrors()
    ? { findings: findings.sorted() }
    : { graph, warnings: findings.sorted() };
}

/** The graph where nothing is in its way; else every reason is in `findings`. */
function readGraph(dot: DotGraph, findings: FindingList): WorkflowGraph | undefined {
  checkAttributes("graph", dot.attributes, findings);
  for (const subgraph of dot.subgraphs) checkAttributes("subgraph", subgraph.attributes, findings);
  const inputs = readInputs(dot, findings);
  const stated = [...dot.nodes.values()].filter((node) => node.statedAt !== undefined);
  const ids = stated.map((node) => node.id);
  const nodes = new Map<string, NodeReading>();
  for (const node of dot.nodes.values()) nodes.set(node.id, readNode(node, ids, findings));
  const edges = dot.edges.map((edge) => readEdge(edge, findings));
  const flow = { nodes, outgoing: edgesBy("from", edges), incoming: edgesBy("to", edges) };
  const ends = checkEnds(flow, findings.positionOf(dot.offset), findings);
  if (ends === undefined) return undefined;
  checkReach(flow, ends, findings);
  if (findings.hasErrors()) return undefined;
  checkRouting(flow, ends, findings);
  return {
    name: dot.name,
    goal: dot.attributes.get("goal")?.value.text,
    inputs,
    ...ends,
    // Without errors every node was read whole.
    nodes: new Map([...nodes].flatMap(([id, { node }]) => (node ? [[id, node]] : []))),
    edges,
    outgoing: flow.outgoing,
    incoming: flow.incoming,
  };
}

function readInputs(dot: DotGraph, findings: FindingList): readonly DeclaredInput[] {
  const declaration = dot.attributes.get("inputs")?.value;
  if (declaration === undefined) return [];
  const { inputs, problems } = parseInputs(declaration.text);
  for (const { message, index } of problems) {
    findings.add("bad_inputs", offsetAt(declaration, index), message);
  }
  return inputs;
}

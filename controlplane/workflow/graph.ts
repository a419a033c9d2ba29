import type { DeclaredInput } from "./declared-input.ts";
import type { Position } from "./dot/line-table.ts";

/** A validated workflow (G-1): what the engine runs. Same source, same graph. */
export interface WorkflowGraph {
  readonly name: string | undefined;
  readonly goal: string | undefined;
  /** In the order of the declaration. */
  readonly inputs: readonly DeclaredInput[];
  /** Ids of the one start and the one exit. */
  readonly start: string;
  readonly exit: string;
  /** In order of first mention in the file. */
  readonly nodes: ReadonlyMap<string, WorkflowNode>;
  readonly edges: readonly WorkflowEdge[];
  /** Edges by the node they leave or enter, in source order; a node without any has no entry. */
  readonly outgoing: EdgesByNode;
  readonly incoming: EdgesByNode;
}

export type EdgesByNode = ReadonlyMap<string, readonly WorkflowEdge[]>;

export type WorkflowNode = MarkerNode | ScriptStep;

/** Where routing begins and ends; runs nothing. */
export interface MarkerNode {
  readonly kind: "start" | "exit";
  readonly id: string;
  readonly label: string;
  readonly at: Position;
}

export interface ScriptStep {
  readonly kind: "script";
  /** A valid step id (WV-3). */
  readonly id: string;
  /** For people; the id where the file gives none. */
  readonly label: string;
  readonly script: string;
  /** Undefined: the control plane's own default holds. */
  readonly timeoutMs: number | undefined;
  readonly at: Position;
}

export interface WorkflowEdge {
  readonly from: string;
  readonly to: string;
  /** A whole number from 0; 0 where the file gives none. */
  readonly weight: number;
  readonly label: string | undefined;
  readonly at: Position;
}

/** Indexes edges by one of their ends, in source order. */
export function edgesBy(end: "from" | "to", edges: readonly WorkflowEdge[]): EdgesByNode {
  return Map.groupBy(edges, (edge) => edge[end]);
}

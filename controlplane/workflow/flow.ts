import type { EdgesByNode } from "./graph.ts";
import type { NodeReading } from "./read-node.ts";

/** What the checks of the graph as a whole look at: it may still hold errors elsewhere. */
export interface Flow {
  readonly nodes: ReadonlyMap<string, NodeReading>;
  readonly outgoing: EdgesByNode;
  readonly incoming: EdgesByNode;
}

/** The ids of the one start and the one exit. */
export interface Ends {
  readonly start: string;
  readonly exit: string;
}

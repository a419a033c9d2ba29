import { checkAttributes } from "./check-attributes.ts";
import type { DotAttribute, DotEdge } from "./dot/dot-graph.ts";
import type { FindingList } from "./finding-list.ts";
import type { WorkflowEdge } from "./graph.ts";

/** Reads one edge of the DOT graph (G-1). A weight that cannot be read is reported and counts as 0. */
export function readEdge(dot: DotEdge, findings: FindingList): WorkflowEdge {
  checkAttributes("edge", dot.attributes, findings);
  return {
    from: dot.from,
    to: dot.to,
    weight: readWeight(dot.attributes.get("weight"), findings),
    label: dot.attributes.get("label")?.value.text,
    at: findings.positionOf(dot.offset),
  };
}

function readWeight(weight: DotAttribute | undefined, findings: FindingList): number {
  if (weight === undefined) return 0;
  if (/^\d{1,6}$/.test(weight.value.text)) return Number(weight.value.text);
  findings.add("bad_attribute", weight.nameOffset, "a weight is a whole number from 0 to 999999");
  return 0;
}

import type { Position } from "./dot/line-table.ts";
import type { FindingList } from "./finding-list.ts";
import { quote } from "./finding.ts";
import type { Ends, Flow } from "./flow.ts";
import type { NodeReading } from "./read-node.ts";

/**
 * Exactly one start, which no edge enters, and one exit, which no edge leaves (G-1, G-5). Undefined where
 * there is none or more than one of either. `graphAt` is where a missing one is reported.
 */
export function checkEnds(flow: Flow, graphAt: Position, findings: FindingList): Ends | undefined {
  for (const { id, kind } of flow.nodes.values()) {
    if (kind === "start") {
      for (const edge of flow.incoming.get(id) ?? []) {
        const message = `no edge may enter the start node ${quote(id)}; lead it to the first step`;
        findings.add("start_node", edge.at, message);
      }
    }
    if (kind === "exit") {
      for (const edge of flow.outgoing.get(id) ?? []) {
        findings.add("terminal_node", edge.at, `no edge may leave the exit node ${quote(id)}`);
      }
    }
  }
  const start = onlyOne("start", flow, graphAt, findings);
  const exit = onlyOne("exit", flow, graphAt, findings);
  return start === undefined || exit === undefined ? undefined : { start: start.id, exit: exit.id };
}

function onlyOne(
  kind: "start" | "exit",
  flow: Flow,
  graphAt: Position,
  findings: FindingList,
): NodeReading | undefined {
  const [first, ...more] = [...flow.nodes.values()].filter((node) => node.kind === kind);
  const code = kind === "start" ? "start_node" : "terminal_node";
  if (first === undefined) {
    const shape = kind === "start" ? "Mdiamond" : "Msquare";
    const message = `the workflow has no ${kind} node; add \`${kind} [shape=${shape}]\``;
    findings.add(code, graphAt, message);
  }
  for (const { id, at } of more) {
    const other = quote(first?.id ?? "");
    findings.add(code, at, `${quote(id)} is one ${kind} node too many; ${other} is one already`);
  }
  return more.length === 0 ? first : undefined;
}

import type { FindingList } from "./finding-list.ts";
import { quote } from "./finding.ts";
import type { Ends, Flow } from "./flow.ts";

/**
 * Whether edges lead from the start to every node, and from every node to the exit (G-5), whichever of them
 * are taken.
 */
export function checkReach(flow: Flow, { start, exit }: Ends, findings: FindingList): void {
  const fromStart = reach([start], (id) => flow.outgoing.get(id)?.map((edge) => edge.to));
  const toExit = reach([exit], (id) => flow.incoming.get(id)?.map((edge) => edge.from));
  const blind = [...flow.nodes.keys()].filter((id) => id !== exit && !flow.outgoing.has(id));
  const toBlind = reach(blind, (id) => flow.incoming.get(id)?.map((edge) => edge.from));
  for (const { id, at, defined } of flow.nodes.values()) {
    if (!defined) continue;
    // An exit that nothing reaches shows as the dead ends before it.
    if (!fromStart.has(id) && id !== exit) {
      const message = flow.incoming.has(id)
        ? `no path leads from the start to ${quote(id)}`
        : `no edge leads to ${quote(id)}`;
      findings.add("unreachable", at, `${message}, so it is never run`);
    }
    if (toExit.has(id)) continue;
    if (!flow.outgoing.has(id)) {
      findings.add("dead_end", at, `no edge leaves ${quote(id)}; lead it on to the exit`);
    } else if (!toBlind.has(id)) {
      // What leads to a node without edges is repaired there; what is left goes in circles.
      findings.add("dead_end", at, `no path leads from ${quote(id)} to the exit`);
    }
  }
}

function reach(
  from: readonly string[],
  next: (id: string) => readonly string[] | undefined,
): ReadonlySet<string> {
  const reached = new Set(from);
  // A set that grows while it is walked is its own queue.
  for (const id of reached) for (const to of next(id) ?? []) reached.add(to);
  return reached;
}

import type { FindingList } from "./finding-list.ts";
import { quote } from "./finding.ts";
import type { Ends, Flow } from "./flow.ts";
import type { WorkflowEdge } from "./graph.ts";
import { route } from "./route.ts";

/**
 * Unconditional routing is one path, the same in every run, so what it never comes to is never run. Follows
 * it with the engine's own function (G-4, G-5). Expects a flow without errors, in which every node reaches
 * the exit.
 */
export function checkRouting(flow: Flow, ends: Ends, findings: FindingList): void {
  const { path, back } = followRoute(flow, ends);
  if (back !== undefined) reportCircle(flow, path, back, findings);
  else reportLeftOut(flow, path, findings);
}

interface Route {
  /** Ids in the order in which they are run. */
  readonly path: ReadonlySet<string>;
  /** The edge that leads back into the path instead of to the exit. */
  readonly back: WorkflowEdge | undefined;
}

function followRoute(flow: Flow, { start, exit }: Ends): Route {
  const path = new Set([start]);
  for (let at = start; at !== exit;) {
    const edge = route(flow, at);
    if (edge === undefined || path.has(edge.to)) return { path, back: edge };
    path.add(edge.to);
    at = edge.to;
  }
  return { path, back: undefined };
}

const maxShownNodes = 8;

function reportCircle(
  flow: Flow,
  path: ReadonlySet<string>,
  back: WorkflowEdge,
  findings: FindingList,
): void {
  const all = [...path];
  const circle = all.slice(all.indexOf(back.to));
  const inside = new Set(circle);
  const shown = circle.length > maxShownNodes ? [...circle.slice(0, maxShownNodes), "…"] : circle;
  const wayOut = circle
    .flatMap((id) => flow.outgoing.get(id) ?? [])
    .find((edge) => !inside.has(edge.to));
  const advice =
    wayOut === undefined ? "" : `; to leave it, ${preferring(wayOut, route(flow, wayOut.from))}`;
  const names = [...shown, back.to].join(" -> ");
  findings.add("dead_end", back.at, `the run goes ${quote(names)} for ever${advice}`);
}

function reportLeftOut(flow: Flow, path: ReadonlySet<string>, findings: FindingList): void {
  const taken = new Map([...path].map((id) => [id, route(flow, id)]));
  for (const [id, turn] of turnsOff(flow, path)) {
    const node = flow.nodes.get(id);
    const instead = taken.get(turn.from);
    if (node === undefined || instead === undefined) continue;
    findings.add(
      "unreachable",
      node.at,
      `${quote(id)} is never run: ${habit(instead, turn)}; put ${quote(id)} on that path, or ${preferring(turn, instead)}`,
    );
  }
  const order = new Map([...path].map((id, i) => [id, i]));
  for (const [id, place] of order) {
    const instead = taken.get(id);
    for (const edge of flow.outgoing.get(id) ?? []) {
      const target = order.get(edge.to);
      if (target === undefined || instead === undefined || instead.to === edge.to) continue;
      // An edge that is not taken still makes its target depend on its source (G-1), if both are steps in
      // that order.
      if (target > place && runs(flow, id) && runs(flow, edge.to)) continue;
      findings.add("edge_never_taken", edge.at, `this edge does nothing: ${habit(instead, edge)}`);
    }
  }
}

/** For every node off the path: the edge by which a run would have to leave the path to come to it. */
function turnsOff(flow: Flow, path: ReadonlySet<string>): ReadonlyMap<string, WorkflowEdge> {
  const turns = new Map<string, WorkflowEdge>();
  for (const id of path) {
    for (const edge of flow.outgoing.get(id) ?? []) {
      if (!path.has(edge.to) && !turns.has(edge.to)) turns.set(edge.to, edge);
    }
  }
  // A map that grows while it is walked is its own queue.
  for (const [id, turn] of turns) {
    for (const { to } of flow.outgoing.get(id) ?? []) {
      if (!path.has(to) && !turns.has(to)) turns.set(to, turn);
    }
  }
  return turns;
}

function runs(flow: Flow, id: string): boolean {
  const kind = flow.nodes.get(id)?.kind;
  return kind !== "start" && kind !== "exit";
}

/** What the run does at the node that `other` leaves, and why. */
function habit(taken: WorkflowEdge, other: WorkflowEdge): string {
  const reason =
    taken.weight > other.weight
      ? `weight ${String(taken.weight)} over ${String(other.weight)}`
      : `equal weights, and ${quote(taken.to)} sorts before ${quote(other.to)}`;
  return `after ${quote(taken.from)} the run always goes to ${quote(taken.to)} (${reason})`;
}

function preferring(edge: WorkflowEdge, taken: WorkflowEdge | undefined): string {
  return `give ${quote(`${edge.from} -> ${edge.to}`)} a weight over ${String(taken?.weight ?? 0)}`;
}

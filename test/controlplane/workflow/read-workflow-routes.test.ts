import * as fc from "fast-check";
import { expect, it } from "vitest";
import { readWorkflow } from "../../../controlplane/workflow/read-workflow.ts";
import { route } from "../../../controlplane/workflow/route.ts";

/** Routing and the validator against the plain reading of G-4 and G-5, written anew over lists. */

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly weight: number;
}

const steps = ["a", "b", "c", "d"];

function sourceOf(edges: readonly Edge[]): string {
  const lines = edges.map(({ from, to, weight }) => `${from} -> ${to} [weight=${String(weight)}]`);
  return `digraph { start [shape=Mdiamond]; exit [shape=Msquare]
    node [shape=parallelogram, script="true"]; ${steps.join("; ")}
    ${lines.join("\n")} }`;
}

/** Every node that a run comes to, in order; null where it does not end at the exit. */
function simulate(edges: readonly Edge[]): string[] | null {
  const run = ["start"];
  while (run.at(-1) !== "exit") {
    const [next] = edges
      .filter((edge) => edge.from === run.at(-1))
      .toSorted((a, b) => b.weight - a.weight || (a.to < b.to ? -1 : a.to > b.to ? 1 : 0));
    if (next === undefined || run.length > steps.length + 2) return null;
    run.push(next.to);
  }
  return run;
}

const someEdges = fc.array(
  fc.record({
    from: fc.constantFrom("start", ...steps),
    to: fc.constantFrom("exit", ...steps),
    weight: fc.nat({ max: 2 }),
  }),
  { maxLength: 8 },
);

/** A chain through all steps, so that valid workflows come up often, and what may lead off it. */
const edgeLists = fc
  .tuple(fc.shuffledSubarray(steps, { minLength: 3 }), fc.nat({ max: 2 }), someEdges, fc.boolean())
  .map(([order, weight, extra, chained]) => {
    const chain = ["start", ...order, "exit"];
    const edges = chain.slice(1).map((to, i) => ({ from: chain[i] ?? "", to, weight }));
    return chained ? [...edges, ...extra] : extra;
  });

it("G-4 G-5 accepts exactly the workflows whose run passes every step and ends at the exit", () => {
  let accepted = 0;
  fc.assert(
    fc.property(edgeLists, (edges) => {
      const result = readWorkflow(sourceOf(edges), "w.dot");
      const run = simulate(edges);
      const whole = run !== null && steps.every((step) => run.includes(step));
      if (!("graph" in result)) {
        expect(whole).toBe(false);
        return;
      }
      accepted += 1;
      expect(whole).toBe(true);
      const followed = ["start"];
      for (
        let edge = route(result.graph, "start");
        edge !== undefined;
        edge = route(result.graph, edge.to)
      ) {
        followed.push(edge.to);
      }
      expect(followed).toEqual(run);
    }),
    { numRuns: 2000 },
  );
  // Both verdicts have to come up for the comparison to mean anything.
  expect(accepted).toBeGreaterThan(100);
  expect(accepted).toBeLessThan(1900);
});

it("stays quick on a large graph in which every name is a near miss", () => {
  const names = Array.from({ length: 2000 }, (_, i) => `${"x".repeat(50)}${String(i)}`);
  const stated = names.map((name) => `${name}a [shape=parallelogram, script="true"]`);
  const missed = names.map((name) => `start -> ${name}b -> exit`);
  const source = `digraph { start [shape=Mdiamond]; exit [shape=Msquare]\n${stated.join("\n")}\n${missed.join("\n")} }`;
  const before = performance.now();
  const result = readWorkflow(source, "w.dot");
  expect(performance.now() - before).toBeLessThan(10_000);
  expect("findings" in result && new Set(result.findings.map(({ code }) => code))).toEqual(
    new Set(["edge_target", "unreachable", "dead_end"]),
  );
});

it("stays quick where one step has as many edges as a file may have", () => {
  const edges = Array.from({ length: 12_000 }, (_, i) => `b -> a [weight=${String(i % 9)}]`);
  const source = `digraph { start [shape=Mdiamond]; exit [shape=Msquare]
    node [shape=parallelogram, script="true"]; a; b
    start -> a -> b; b -> exit [weight=99]\n${edges.join("\n")} }`;
  const before = performance.now();
  const result = readWorkflow(source, "w.dot");
  expect(performance.now() - before).toBeLessThan(5000);
  expect("graph" in result && result.warnings).toHaveLength(12_000);
});

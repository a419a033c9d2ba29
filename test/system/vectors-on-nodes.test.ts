import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { dist } from "../support/dist.ts";
import { installNode, nodeMajors } from "../support/install-node.ts";
import { faultsOf } from "../vectors/command-line.ts";
import {
  callElsewhere,
  canBeMade,
  expectedOutcome,
  libraryVectors,
} from "../vectors/library-call.ts";
import { commandLineVectors, runCommandLines } from "../vectors/run-command-lines.ts";
import { snapshotOf } from "../vectors/snapshot.ts";
import { makeVectorTree } from "../vectors/vector-tree.ts";

describe.each(nodeMajors)("the vectors on Node %d", (major) => {
  let node = "";
  beforeAll(() => {
    node = join(installNode(major), "node");
  });

  it("all pass in the library", () => {
    const made = libraryVectors()
      .flatMap(({ cases }) => cases.filter(canBeMade))
      .map((vector) => ({ vector, tree: makeVectorTree(vector) }));
    const script = join(import.meta.dirname, "..", "vectors", "run-library.cjs");
    const runner = {
      argv: [node, script, join(dist, "agent", "variables")],
      env: {},
    } as const;
    const calls = made.map(({ vector, tree }) => ({ vector, env: tree.env }));
    const outcomes = callElsewhere(runner, calls);
    expect(outcomes.length).toBeGreaterThan(250);
    for (const [i, { vector, tree }] of made.entries()) {
      expect([vector.name, outcomes[i]]).toMatchObject([vector.name, expectedOutcome(vector)]);
      expect([vector.name, snapshotOf(tree.root)]).toEqual([vector.name, tree.expected]);
      tree.remove();
    }
  });

  it("all pass on the command line", async () => {
    const runs = await runCommandLines(
      [node, join(dist, "agent", "lib", "wfvar.cjs")],
      commandLineVectors(),
    );
    expect(runs.size).toBeGreaterThan(250);
    const faults = [...runs].flatMap(([vector, { answer, after, expected }]) => {
      const wrong = faultsOf(vector, answer);
      const isRight = wrong.length === 0 && isDeepStrictEqual(after, expected);
      return isRight ? [] : [{ name: vector.name, wrong, after }];
    });
    expect(faults).toEqual([]);
  });
});

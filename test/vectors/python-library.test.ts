import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pythonKit } from "../support/python-kit.ts";
import {
  callElsewhere,
  canBeMade,
  expectedOutcome,
  libraryVectors,
  pythonRunner,
  type Outcome,
} from "./library-call.ts";
import { snapshotOf } from "./snapshot.ts";
import { titled, type Vector } from "./vector.ts";
import { makeVectorTree, type VectorTree } from "./vector-tree.ts";

const files = libraryVectors().map((file) => ({ ...file, cases: file.cases.filter(canBeMade) }));
const runs = new Map<Vector, { readonly tree: VectorTree; readonly outcome: Outcome }>();

beforeAll(() => {
  using kit = pythonKit();
  const made = files
    .flatMap(({ cases }) => cases)
    .map((vector) => ({ vector, tree: makeVectorTree(vector) }));
  const calls = made.map(({ vector, tree }) => ({ vector, env: tree.env }));
  for (const [i, outcome] of callElsewhere(pythonRunner(kit), calls).entries()) {
    const call = made[i];
    if (call !== undefined) runs.set(call.vector, { tree: call.tree, outcome });
  }
});

afterAll(() => {
  for (const { tree } of runs.values()) tree.remove();
});

describe.each(files)("Python library: $name", ({ cases }) => {
  it.each(titled(cases))("%s", (_title, vector) => {
    const run = runs.get(vector);
    expect(run?.outcome).toMatchObject(expectedOutcome(vector));
    expect(snapshotOf(run?.tree.root ?? "")).toEqual(run?.tree.expected);
  });
});

import { describe, expect, it } from "vitest";
import { callInJavaScript, canBeMade, expectedOutcome, libraryVectors } from "./library-call.ts";
import { snapshotOf } from "./snapshot.ts";
import { titled } from "./vector.ts";
import { makeVectorTree } from "./vector-tree.ts";

describe.each(libraryVectors())("JavaScript library: $name", ({ cases }) => {
  it.each(titled(cases.filter(canBeMade)))("%s", (_title, vector) => {
    const tree = makeVectorTree(vector);
    try {
      expect(callInJavaScript(vector, tree.env)).toMatchObject(expectedOutcome(vector));
      expect(snapshotOf(tree.root)).toEqual(tree.expected);
    } finally {
      tree.remove();
    }
  });
});

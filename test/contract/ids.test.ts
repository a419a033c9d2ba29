import { describe, expect, it } from "vitest";
import { isRunId, loopIdProblem, parseStepPath, stepIdProblem } from "../../contract/ids.ts";
import { reservedWords } from "../../contract/reserved-words.ts";

const seedWords =
  "workflow while for foreach loop until do repeat if else elif elseif then switch case default when break continue return goto yield try catch except finally raise throw and or not xor in is true false null none nil yes no on off";

describe("step and loop ids (WV-3)", () => {
  it("reserves exactly the agreed words", () => {
    expect([...reservedWords].toSorted()).toEqual(seedWords.split(" ").toSorted());
  });

  it.each(["judge", "a", "a-b_c1", "a".repeat(64), "x_1y", "loops"])(
    "accepts the step %s",
    (id) => {
      expect(stepIdProblem(id)).toBeUndefined();
    },
  );

  it.each(["", "Judge", "1a", "-a", "a.b", "a b", "judge_2", "a".repeat(65), ...reservedWords])(
    "refuses the step %j",
    (id) => {
      expect(stepIdProblem(id)).toBeTypeOf("string");
    },
  );

  it("allows a loop id 56 characters, so that its folders fit a segment", () => {
    expect(loopIdProblem("a".repeat(56))).toBeUndefined();
    expect(loopIdProblem("a".repeat(57))).toBeTypeOf("string");
  });

  it.each([
    ["judge", { text: "judge", segments: ["judge"], step: "judge" }],
    ["JUDGE", { text: "judge", segments: ["judge"], step: "judge" }],
    [
      "review-loop_2.judge",
      {
        text: "review-loop_2.judge",
        segments: ["review-loop_2", "judge"],
        step: "judge",
        loop: { id: "review-loop", iteration: 2 },
      },
    ],
  ])("reads the step path %s", (text, path) => {
    expect(parseStepPath(text)).toEqual(path);
  });

  it.each([
    "",
    "workflow",
    "a.b",
    "loop_1.judge",
    "l_0.a",
    "l_01.a",
    "l_1000000.a",
    "l_1.a.b",
    "l_1",
    "l_1.if",
    "\u212a",
  ])("refuses the step path %j", (text) => {
    expect(parseStepPath(text)).toBeUndefined();
  });

  it("takes run ids that are safe in a path and a URL", () => {
    expect(isRunId("20261231-235959-k7m2qx")).toBe(true);
    for (const bad of ["", ".", "..", "a/b", "-a", "a b", "a".repeat(129)])
      expect(isRunId(bad)).toBe(false);
  });
});

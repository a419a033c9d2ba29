import { describe, expect, it } from "vitest";
import { layoutKey, parsePrefillName, stepPathOfSelf } from "../../contract/layout.ts";

describe("layout (WV-1, WV-2)", () => {
  it.each([
    ["judge.verdict", "judge/VERDICT"],
    ["review-loop_2.judge.findings.high", "review-loop_2/judge/findings/HIGH"],
    ["workflow.run-id", "workflow/run-id"],
    ["workflow.item.flow-state", "workflow/item.flow-state"],
  ])("spells %s as %s", (key, path) => {
    expect(layoutKey(key.split(".")).join("/")).toBe(path);
  });

  it.each([
    ["/variables", "/variables/judge", "judge"],
    ["/variables/", "/variables/review-loop_2/judge/", "review-loop_2.judge"],
    ["/variables", "/elsewhere/judge", undefined],
    ["/variables", "/variables/workflow", undefined],
    ["/variables", "/variables/a/b", undefined],
  ])("reads the step of root %s and self %s", (root, self, step) => {
    expect(stepPathOfSelf(root, self)?.text).toBe(step);
  });

  it.each([
    ".step",
    ".context",
    ".prompt",
    "judge/VERDICT",
    "Judge/findings/High",
    "workflow/item.uuid",
    "l_1/judge/X",
  ])("takes the prefill file %s", (name) => {
    expect(parsePrefillName(name, false)?.path.join("/")).toBe(name);
  });

  it.each(["judge", "judge/", "workflow", "l_1/judge"])("takes the prefill folder %s", (name) => {
    expect(parsePrefillName(name, true)?.kind).toBe("folder");
  });

  it.each([
    "",
    "/",
    "/etc/passwd",
    "..",
    "../x",
    "judge/../x",
    "./judge/X",
    "judge//X",
    "VERDICT",
    ".self",
    ".done",
    ".step/X",
    "judge/.hidden",
    "judge/a.b",
    "judge/X\0",
    "judge/X\n",
    "judge/é",
    "workflow/a/b",
    "workflow/.x",
    "workflow/a..b",
    "a/b/c/d/e/f/g/h/i",
    `judge/${"x".repeat(65)}`,
    "judge/X/",
  ])("refuses the prefill file %j", (name) => {
    expect(parsePrefillName(name, false)).toBeUndefined();
  });

  it.each(["workflow/sub", ".", "..", "a/..", "a.b", ".git"])(
    "refuses the prefill folder %j",
    (name) => {
      expect(parsePrefillName(name, true)).toBeUndefined();
    },
  );
});

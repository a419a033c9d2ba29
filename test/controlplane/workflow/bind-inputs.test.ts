import { describe, expect, it } from "vitest";
import { bindInputs, type BoundInputs } from "../../../controlplane/workflow/bind-inputs.ts";
import { parseInputs } from "../../../controlplane/workflow/parse-inputs.ts";

function bind(declaration: string, given: Record<string, string>): BoundInputs {
  const { inputs, problems } = parseInputs(declaration);
  expect(problems).toEqual([]);
  return bindInputs(inputs, new Map(Object.entries(given)));
}

function valuesOf(bound: BoundInputs): Record<string, string> {
  if ("problems" in bound) throw new Error(bound.problems.join("\n"));
  return Object.fromEntries(bound.values);
}

describe("bindInputs", () => {
  it("G-1 takes given values, falls back, and leaves out what is optional and not given", () => {
    const bound = bind("work:text,base:text=main,note?:text", { work: "x" });
    expect(valuesOf(bound)).toEqual({ work: "x", base: "main" });
    expect(valuesOf(bind("base:text=main,note?", { base: "", note: "n" }))).toEqual({
      base: "",
      note: "n",
    });
  });

  it("WV-4 keeps every value exactly as it is given", () => {
    const given = {
      t: " a\r\n\n\0\u00e9 ",
      n: "1.0e2\n",
      j: '{ "b":1,\n"a": 2 }\n',
      b: "true\n",
      c: "x",
    };
    expect(valuesOf(bind("t,n:number,j:json,b:bool,c:choice(x|y)", given))).toEqual(given);
  });

  it("WV-2 looks names up in any case", () => {
    expect(valuesOf(bind("item.title", { "Item.TITLE": "x" }))).toEqual({ "item.title": "x" });
    expect(bind("work", { work: "1", WORK: "2" })).toEqual({
      problems: ["the input `work` is given twice"],
    });
  });

  it("reports every problem at once", () => {
    expect(
      bind("work,base,n:number,ok", {
        wrok: "secret-1",
        n: "secret-2",
        ok: "fine",
        zzz: "secret-3",
      }),
    ).toEqual({
      problems: [
        "there is no input `wrok` (did you mean `work`?); the workflow declares `base`, `n`, `ok`, `work`",
        "there is no input `zzz`; the workflow declares `base`, `n`, `ok`, `work`",
        "the input `work` is missing: --input work=VALUE",
        "the input `base` is missing: --input base=VALUE",
        "the input `n` must be a number such as 3, -0.5 or 1e6",
      ],
    });
  });

  it.each([
    [
      "number",
      ["0", "-1", "1.50", "1e6", "1E+2", "3\n"],
      ["", " 1", "1 ", "+1", "01", ".5", "1.", "0x1", "NaN", "1_0", "1\n\n", "\u0661"],
    ],
    ["bool", ["true", "false", "true\n"], ["", "True", "1", "yes", " true"]],
    ["json", ["{}", "[1]", ' {"a":1}\n'], ["", "1", "null", '"a"', "{", "{}{}", "{'a':1}"]],
    ["choice(a|b)", ["a", "b\n"], ["", "c", "A", "a|b", " a"]],
    ["text", ["", "anything\n\n"], ["\ud800"]],
  ])("G-2 checks the kind %s and converts nothing", (kind, right, wrong) => {
    for (const value of right) expect(bind(`x:${kind}`, { x: value })).toHaveProperty("values");
    for (const value of wrong) {
      const bound = bind(`x:${kind}`, { x: value });
      expect("problems" in bound ? bound.problems : [value]).toEqual([
        expect.stringContaining("must be"),
      ]);
    }
  });

  it("says so where the workflow declares no inputs", () => {
    expect(bind("", { x: "1" })).toEqual({
      problems: ["there is no input `x`; the workflow declares none"],
    });
  });
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listKeys } from "../../helper/keys.ts";
import { codeOf } from "./code-of.ts";
import { openDescriptors } from "./open-descriptors.ts";
import { variablesFolder } from "./variables-folder.ts";

const tree = [
  "judge/VERDICT=own",
  "judge/Findings/high=1",
  "judge/findings/LOW=2",
  "judge/plan/SUMMARY=own plan",
  "judge/workflow/X=own workflow",
  "judge/judge/Y=own judge",
  "plan/SUMMARY=hidden by the own plan.summary",
  "plan/TITLE=t",
  "workflow/item.title=t",
  "workflow/x=input",
  "STRAY=at the root",
];

describe("keys (WV-13)", () => {
  it.each([
    [
      undefined,
      [
        "findings.high",
        "findings.low",
        "judge.judge.y",
        "judge.workflow.x",
        "plan.summary",
        "verdict",
      ],
    ],
    [
      "",
      [
        "findings.high",
        "findings.low",
        "judge.judge.y",
        "judge.workflow.x",
        "plan.summary",
        "plan.title",
        "verdict",
        "workflow.item.title",
        "workflow.x",
      ],
    ],
    [
      "judge.",
      [
        "judge.findings.high",
        "judge.findings.low",
        "judge.judge.y",
        "judge.plan.summary",
        "judge.verdict",
        "judge.workflow.x",
      ],
    ],
    ["judge.judge.", ["judge.judge.y"]],
    ["PLAN.", ["plan.summary", "plan.title"]],
    ["workflow.", ["workflow.item.title", "workflow.x"]],
    ["ver", ["verdict"]],
    ["nothing", []],
    ["\u212A", []],
  ])("with prefix %j", (prefix, keys) => {
    using folder = variablesFolder("judge", tree);
    expect(listKeys(folder.env, prefix).map(({ key }) => key)).toEqual(keys);
  });

  it("shows in a loop step every prior iteration, and its own folder once", () => {
    using folder = variablesFolder("review-loop_2/judge", [
      "review-loop_2/judge/X=1",
      "review-loop_1/judge/X=1",
      "review-loop_1/fix/Y=1",
    ]);
    expect(listKeys(folder.env, "").map(({ key }) => key)).toEqual([
      "review-loop_1.fix.y",
      "review-loop_1.judge.x",
      "x",
    ]);
    expect(listKeys(folder.env, "review-loop_").map(({ key }) => key)).toEqual([
      "review-loop_1.fix.y",
      "review-loop_1.judge.x",
      "review-loop_2.judge.x",
    ]);
  });

  it("sorts by bytes", () => {
    using folder = variablesFolder("judge", [
      "judge/a/X=",
      "judge/A-B=",
      "judge/A0=",
      "judge/A_=",
      "judge/A=",
    ]);
    expect(listKeys(folder.env).map(({ key }) => key)).toEqual(["a", "a-b", "a.x", "a0", "a_"]);
  });

  it("gives sizes in bytes", () => {
    using folder = variablesFolder("judge", ["judge/K=é", "plan/X="]);
    expect(listKeys(folder.env, "")).toEqual([
      { key: "k", size: 2 },
      { key: "plan.x", size: 0 },
    ]);
  });

  it.each([
    [
      "ambiguous keys, also where another step has the key",
      ["judge/p/X=a", "judge/p/x=b", "p/X=c"],
    ],
    ["links", ["judge/K -> VERDICT", "judge/f -> ..", "plan -> judge", "workflow -> judge"]],
    ["FIFOs", ["judge/K |"]],
    ["dotfiles", ["judge/.hidden=1", "judge/.f/X=1", ".context=1"]],
    [
      "names that are no keys",
      ["judge/a b=1", "judge/a.b=1", "judge/é=1", "judge/_x=1", "workflow/.x=1", "workflow/a..b=1"],
    ],
    ["folders under workflow, which is flat", ["workflow/a/X=1"]],
    ["what is too deep", ["judge/b/c/d/e/f/g/h/I=1", "a/b/c/d/e/f/g/h/I=1"]],
  ])("leaves out %s", (_name, entries) => {
    using folder = variablesFolder("judge", entries);
    expect(listKeys(folder.env, "")).toEqual([]);
  });

  it("lists another step's deep key that an own one of the same words, too deep, does not hide", () => {
    using folder = variablesFolder("judge", ["judge/a/b/c/d/e/f/g/H=1", "a/b/c/d/e/f/g/H=1"]);
    expect(listKeys(folder.env, "").map(({ key }) => key)).toEqual(["a.b.c.d.e.f.g.h"]);
  });

  it("stops at the step's entry limit (WV-5)", () => {
    using folder = variablesFolder("judge", [], { max_step_entries: 20 });
    mkdirSync(join(folder.self, "f"));
    for (let i = 0; i < 20; i += 1) writeFileSync(join(folder.self, "f", `.${String(i)}`), "");
    expect(codeOf(() => listKeys(folder.env))).toBe("step_entries_exceeded");
  });

  it("leaves no descriptor open", () => {
    using folder = variablesFolder("judge", tree, { max_step_entries: 7 });
    const before = openDescriptors();
    codeOf(() => listKeys(folder.env));
    expect(openDescriptors()).toBe(before);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadValue } from "../../helper/load.ts";
import { unsetValue } from "../../helper/unset.ts";
import { codeOf } from "./code-of.ts";
import { openDescriptors } from "./open-descriptors.ts";
import { variablesFolder } from "./variables-folder.ts";
import { runWfvar, wfvarKit } from "./wfvar-bundle.ts";

const kit = wfvarKit();
afterAll(() => {
  kit[Symbol.dispose]();
});

const tree = [
  "judge/VERDICT=1",
  "judge/Findings/HIGH=1",
  "judge/findings/low=1",
  "judge/Twice=1",
  "judge/twice=2",
  "judge/A/1=1",
  "judge/a/1/x=1",
  "judge/link -> VERDICT",
  "judge/there -> ../plan",
  "judge/both -> VERDICT",
  "judge/BOTH=1",
  "judge/judge/x=1",
  "judge/X=1",
  "judge/.dot=1",
  "plan/SUMMARY=1",
  "workflow/item.uuid=1",
];

describe("unset removes an own variable and nothing else (WV-14)", () => {
  it.each([
    ["verdict", "judge.verdict", ["VERDICT"]],
    ["JUDGE.Verdict", "judge.verdict", ["VERDICT"]],
    ["findings.high", "judge.findings.high", ["Findings/HIGH"]],
    ["FINDINGS.LOW", "judge.findings.low", ["findings/low"]],
    ["twice", "judge.twice", ["Twice", "twice"]],
    ["a.1", "judge.a.1", ["A/1"]],
    ["a.1.x", "judge.a.1.x", ["a/1/x"]],
    ["both", "judge.both", ["BOTH"]],
    ["judge.x", "judge.x", ["X"]],
    ["judge.judge.x", "judge.judge.x", ["judge/x"]],
  ])("%s: %s", (key, full, gone) => {
    using folder = variablesFolder("judge", tree);
    const before = folder.ownTree();
    expect(unsetValue(folder.env, key)).toBe(full);
    expect(folder.ownTree()).toEqual(before.filter((path) => !gone.includes(path)));
    expect(codeOf(() => loadValue(folder.env, full))).not.toBe("ok");
  });

  it.each([
    ["nope", "not_found"],
    ["findings", "not_found"],
    ["findings.nope", "not_found"],
    ["verdict.x", "not_found"],
    ["a..b", "invalid_key"],
    ["1.2.3.4.5.6.7.8", "invalid_key"],
    ["plan.summary", "outside_own_step"],
    ["workflow.item.uuid", "outside_own_step"],
    ["link", "unsafe_path"],
    ["there.summary", "unsafe_path"],
    [".dot", "invalid_key"],
  ])("%s is refused with %s, and nothing changes", (key, code) => {
    using folder = variablesFolder("judge", tree);
    const before = folder.ownTree();
    const descriptors = openDescriptors();
    expect(codeOf(() => unsetValue(folder.env, key))).toBe(code);
    expect(folder.ownTree()).toEqual(before);
    expect(readFileSync(join(folder.root, "plan/SUMMARY"), "utf8")).toBe("1");
    expect(openDescriptors()).toBe(descriptors);
  });

  it("means the own folder of a loop step by its full prefix", () => {
    using folder = variablesFolder("fix_2/judge", ["fix_2/judge/V=2", "fix_1/judge/V=1"]);
    expect(codeOf(() => unsetValue(folder.env, "fix_1.judge.v"))).toBe("outside_own_step");
    expect(unsetValue(folder.env, "fix_2.judge.v")).toBe("fix_2.judge.v");
    expect(folder.ownTree()).toEqual([]);
    expect(loadValue(folder.env, "fix_1.judge.v").text).toBe("1");
  });
});

describe("wfvar unset (WV-14)", () => {
  it("says what it removed, unless told not to", () => {
    using folder = variablesFolder("judge", ["judge/A=s3cret", "judge/B=s3cret"]);
    const said = (...argv: string[]) => runWfvar(kit, argv, { env: folder.env });
    expect(said("unset", "a")).toMatchObject({ status: 0, stdout: Buffer.alloc(0) });
    expect(said("unset", "-q", "b").stderr.toString()).toBe("");
    expect(said("unset", "a").stderr.toString()).toBe(
      "wfvar: not_found: step judge has no variable judge.a of its own: list the keys to see which are\n",
    );
    expect(said("unset", "a").status).toBe(1);
    expect(folder.ownTree()).toEqual([]);
  });

  it.each([
    [["unset"], 2],
    [["unset", "a", "b"], 2],
    [["unset", "workflow.x"], 4],
    [["unset", "--all"], 2],
  ])("%j exits with %i", (argv, status) => {
    using folder = variablesFolder("judge", ["judge/A=1"]);
    expect(runWfvar(kit, argv, { env: folder.env }).status).toBe(status);
    expect(folder.ownTree()).toEqual(["A"]);
  });
});

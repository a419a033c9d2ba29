import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadValue } from "../../helper/load.ts";
import { saveValue } from "../../helper/save.ts";
import type { Env } from "../../helper/step.ts";
import { codeOf } from "./code-of.ts";
import { openDescriptors } from "./open-descriptors.ts";
import { variablesFolder } from "./variables-folder.ts";

const save = (env: Env, key: string, text = "new"): string =>
  saveValue(env, key, Buffer.from(text)).full;

describe("where a value goes (WV-2, WV-13)", () => {
  it.each([
    ["judge", "verdict", "VERDICT", "judge.verdict"],
    ["judge", "Judge.Verdict", "VERDICT", "judge.verdict"],
    ["judge", "judge", "JUDGE", "judge.judge"],
    ["judge", "judge.judge.x", "judge/X", "judge.judge.x"],
    ["judge", "judge.workflow.x", "workflow/X", "judge.workflow.x"],
    ["judge", "judge.plan.x", "plan/X", "judge.plan.x"],
    ["judge", "FINDINGS.high", "findings/HIGH", "judge.findings.high"],
    ["review-loop_2/judge", "judge.x", "judge/X", "review-loop_2.judge.judge.x"],
    ["review-loop_2/judge", "review-loop_2.judge.x", "X", "review-loop_2.judge.x"],
  ])("step %s saves %s as the file %s", (step, key, file, full) => {
    using folder = variablesFolder(step, ["plan/X=theirs"]);
    expect(save(folder.env, key)).toBe(full);
    expect(readFileSync(join(folder.self, file), "utf8")).toBe("new");
    expect(loadValue(folder.env, full).text).toBe("new");
  });

  it.each([
    ["judge", "workflow.x"],
    ["judge", "workflow"],
    ["judge", "plan.x"],
    ["judge", "PLAN.x"],
    ["judge", "plan"],
    ["judge", "shout.x"],
    ["judge", "review-loop_1.judge.x"],
    ["review-loop_2/judge", "review-loop_2.x"],
    ["review-loop_2/judge", "review-loop_2.fix.x"],
    ["review-loop_2/judge", "review-loop_2.judge"],
  ])("step %s may not save %s: it names another folder", (step, key) => {
    using folder = variablesFolder(step, ["plan/X=a", "Shout/", "review-loop_1/judge/X=b"]);
    expect(codeOf(() => save(folder.env, key))).toBe("outside_own_step");
    expect(folder.ownTree()).toEqual([]);
  });

  it.each([
    ["judge", "a.b.c.d.e.f.g.h"],
    ["review-loop_2/judge", "a.b.c.d.e.f.g"],
    ["judge", "a..b"],
    ["judge", "\u212A"],
  ])("step %s may not save %j: no key, or too deep with its prefix", (step, key) => {
    using folder = variablesFolder(step);
    expect(codeOf(() => save(folder.env, key))).toBe("invalid_key");
    expect(folder.ownTree()).toEqual([]);
  });

  it("saves eight segments counted from the root", () => {
    using folder = variablesFolder("judge");
    save(folder.env, "b.c.d.e.f.g.h");
    expect(folder.ownTree()).toContain("b/c/d/e/f/g/H");
  });
});

describe("what stands there already (WV-13)", () => {
  it.each([
    ["the same spelling", ["judge/VERDICT=old"], "verdict", ["VERDICT"]],
    ["another spelling", ["judge/Verdict=old"], "verdict", ["Verdict"]],
    ["several spellings", ["judge/Verdict=old", "judge/verdict=older"], "verdict", ["Verdict"]],
    [
      "spellings in folders that fold together",
      ["judge/F/x=1", "judge/f/X=2"],
      "f.x",
      ["F/", "f/", "f/X"],
    ],
    ["a folder in another spelling", ["judge/F/Y=1"], "f.x", ["F/", "F/X", "F/Y"]],
    [
      "a folder that bears the leaf's name",
      ["judge/HIGH/X=1"],
      "high",
      ["HIGH/", "HIGH/X", "high"],
    ],
    [
      "a leaf that bears the folder's name",
      ["judge/high=1"],
      "high.x",
      ["HIGH/", "HIGH/X", "high"],
    ],
    ["the conventional neighbours", ["judge/HIGH=1"], "high.x", ["HIGH", "high/", "high/X"]],
    ["a link in another spelling", ["judge/k -> /etc/passwd", "judge/K=old"], "k", ["K", "k"]],
  ])("%s", (_name, entries, key, tree) => {
    using folder = variablesFolder("judge", entries);
    save(folder.env, key);
    expect(folder.ownTree()).toEqual(tree);
    expect(loadValue(folder.env, key).text).toBe("new");
  });

  it.each([
    ["a folder 1 beside the leaf 1", ["judge/1/X=1"], "1"],
    ["an empty folder 1", ["judge/1/"], "1"],
    ["a leaf 1 under the folder 1", ["judge/1=1"], "1.x"],
    ["a leaf 1 further down", ["judge/a/1=1"], "a.1.b.x"],
    ["a leaf 1 in a folder that merges", ["judge/A/1=1", "judge/a/1/X=1"], "a.1"],
    ["folders of both spellings", ["judge/HIGH/", "judge/high/"], "high"],
  ])("refuses %s: no letter case tells them apart (WV-2)", (_name, entries, key) => {
    using folder = variablesFolder("judge", entries);
    const before = folder.ownTree();
    expect(codeOf(() => save(folder.env, key))).toBe("invalid_key");
    expect(folder.ownTree()).toEqual(before);
  });

  it.each([
    ["a link as leaf", ["victim=old", "judge/K -> ../victim"], "k"],
    ["a link as leaf in another spelling", ["victim=old", "judge/k -> ../victim"], "k"],
    ["a link as folder", ["victim/X=old", "judge/f -> ../victim"], "f.x"],
    ["a link as folder further down", ["victim/X=old", "judge/a/f -> ../../victim"], "a.f.x"],
    ["a FIFO as leaf", ["judge/K |"], "k"],
  ])("refuses %s and writes nothing through it (WV-11)", (_name, entries, key) => {
    using folder = variablesFolder("judge", entries);
    const before = folder.ownTree();
    expect(codeOf(() => save(folder.env, key))).toBe("unsafe_path");
    expect(folder.ownTree()).toEqual(before);
  });

  it("leaves modes 0644 and 0755 whatever the umask", () => {
    using folder = variablesFolder();
    const umask = process.umask(0o077);
    try {
      save(folder.env, "f.x");
    } finally {
      process.umask(umask);
    }
    expect((statSync(join(folder.self, "f")).mode & 0o7777).toString(8)).toBe("755");
    expect((statSync(join(folder.self, "f/X")).mode & 0o7777).toString(8)).toBe("644");
  });

  it("passes over temporary files that killed writers left", () => {
    using folder = variablesFolder();
    writeFileSync(join(folder.self, `.wfvar-${String(process.pid)}-0`), "half");
    save(folder.env, "k");
    expect(folder.ownTree()).toEqual([`.wfvar-${String(process.pid)}-0`, "K"]);
  });
});

describe("limits of the step (WV-5): what the pack would reject is refused", () => {
  it.each([
    ["a value of the limit", { max_value_bytes: 3 }, [], "ok"],
    ["a value over the limit", { max_value_bytes: 2 }, [], "value_too_large"],
    ["the last file", { max_step_files: 2 }, ["judge/a/X=1"], "ok"],
    ["a file too many", { max_step_files: 1 }, ["judge/a/X=1"], "step_files_exceeded"],
    [
      "a file too many beside files that are no keys",
      { max_step_files: 1 },
      ["judge/a b=1"],
      "step_files_exceeded",
    ],
    ["another value of the only file", { max_step_files: 1 }, ["judge/k=1"], "ok"],
    ["bytes up to the limit", { max_step_bytes: 5 }, ["judge/X=12"], "ok"],
    ["a byte too many", { max_step_bytes: 4 }, ["judge/X=12"], "step_bytes_exceeded"],
    ["a larger value in place of one", { max_step_bytes: 5 }, ["judge/X=12", "judge/K=1"], "ok"],
    [
      "values that the pack leaves out do not count",
      { max_step_bytes: 4, max_value_bytes: 4 },
      ["judge/X=12345"],
      "ok",
    ],
    ["entries up to the limit", { max_step_entries: 3 }, ["judge/.dot=", "judge/l -> x"], "ok"],
    [
      "an entry too many",
      { max_step_entries: 2 },
      ["judge/.dot=", "judge/l -> x"],
      "step_entries_exceeded",
    ],
    [
      "a folder already past it",
      { max_step_entries: 1 },
      ["judge/.dot=", "judge/l -> x"],
      "step_entries_exceeded",
    ],
  ])("%s", (_name, limits, entries, code) => {
    using folder = variablesFolder("judge", entries, limits);
    const before = folder.ownTree();
    expect(codeOf(() => save(folder.env, "k"))).toBe(code);
    if (code !== "ok") expect(folder.ownTree()).toEqual(before);
  });

  it("counts the folders that a key needs as entries", () => {
    using folder = variablesFolder("judge", [], { max_step_entries: 2 });
    expect(codeOf(() => save(folder.env, "a.b.x"))).toBe("step_entries_exceeded");
    expect(codeOf(() => save(folder.env, "a.x"))).toBe("ok");
  });

  it("names size and limit", () => {
    using folder = variablesFolder("judge", ["judge/X=12"], { max_step_bytes: 4 });
    expect(() => save(folder.env, "k")).toThrow(
      expect.objectContaining({ code: "step_bytes_exceeded", size: 5, limit: 4 }),
    );
  });
});

it("leaves no descriptor open, saved or refused", () => {
  using folder = variablesFolder("judge", ["judge/A/X=1", "judge/a/Y=1", "judge/f -> a"]);
  const before = openDescriptors();
  save(folder.env, "a.x");
  save(folder.env, "n.e.w");
  codeOf(() => save(folder.env, "f.x"));
  codeOf(() => save(folder.env, "a.x.1.2.3.4.5.6"));
  expect(openDescriptors()).toBe(before);
});

import { afterAll, describe, expect, it } from "vitest";
import { loadValue } from "../../helper/load.ts";
import { unsetValue } from "../../helper/unset.ts";
import { variablesFolder } from "./variables-folder.ts";
import { runWfvar, wfvarKit } from "./wfvar-bundle.ts";

const kit = wfvarKit();
afterAll(() => {
  kit[Symbol.dispose]();
});

function messageOf(call: () => unknown): string {
  try {
    call();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

function saidBy(argv: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const { status, stderr } = runWfvar(kit, argv, { env });
  return { status, err: stderr.toString() };
}

describe("an absent key (WV-14)", () => {
  const tree = [
    "judge/REPORT=1",
    "judge/Findings/HIGH=1",
    "judge/judge/notes=1",
    "plan/SUMMARY=1",
    "plan/notes/MD=1",
    "workflow/item.title=1",
  ];

  it.each([
    ["reprot", "report"],
    ["judge.reprot", "judge.report"],
    ["plan.sumary", "plan.summary"],
    ["Plan.SUMARY", "plan.summary"],
    ["findings.hihg", "findings.high"],
    ["workflow.item.titel", "workflow.item.title"],
    ["judge.judge.note", "judge.judge.notes"],
    ["report.md", "report"],
    ["judge.report.html", "judge.report"],
    ["plan.summary.json", "plan.summary"],
    ["plan.notes.txt", undefined],
    ["verdict", undefined],
    ["md", undefined],
    ["workflow.run-id", undefined],
  ])("%s: did you mean %s", (key, meant) => {
    using folder = variablesFolder("judge", tree);
    expect(messageOf(() => loadValue(folder.env, key))).toBe(
      `no variable ${key.toLowerCase()} is visible to step judge${
        meant === undefined ? ": list the keys to see which are" : `; did you mean ${meant}?`
      }`,
    );
    if (meant !== undefined) expect(loadValue(folder.env, meant).text).toBe("1");
  });

  it.each([
    ["reprot", "report"],
    ["report.md", "report"],
    ["findings.hihg", "findings.high"],
    ["sumary", undefined],
  ])("%s to unset suggests %s, own keys alone", (key, meant) => {
    using folder = variablesFolder("judge", tree);
    expect(messageOf(() => unsetValue(folder.env, key))).toBe(
      `step judge has no variable judge.${key} of its own${
        meant === undefined ? ": list the keys to see which are" : `; did you mean ${meant}?`
      }`,
    );
  });

  it("is not found also where the keys cannot be listed", () => {
    using folder = variablesFolder("judge", ["judge/a/1=", "judge/a/2=", "judge/a/3="], {
      max_step_entries: 2,
    });
    expect(messageOf(() => loadValue(folder.env, "b"))).toContain("no variable b is visible");
  });

  it("suggests on the command line, and not where a default is given", () => {
    using folder = variablesFolder("judge", tree);
    expect(saidBy(["get", "reprot"], folder.env)).toEqual({
      status: 1,
      err: "wfvar: not_found: no variable reprot is visible to step judge; did you mean report?\n",
    });
    expect(saidBy(["get", "reprot", "--default", ""], folder.env)).toEqual({ status: 0, err: "" });
  });
});

describe("unknown words (WV-14)", () => {
  it.each([
    [["gte", "a"], "unknown command (did you mean `get`?); the commands are "],
    [["lst"], "unknown command (did you mean `list`?); the commands are "],
    [["--hepl"], "unknown command (did you mean `--help`?); the commands are "],
    [["frobnicate"], "unknown command; the commands are "],
    [["set", "--stdni", "k"], "unknown flag (did you mean `--stdin`?): see wfvar set --help"],
    [["list", "--jsno"], "unknown flag (did you mean `--json`?): see wfvar list --help"],
    [["list", "--help-me-now"], "unknown flag: see wfvar list --help"],
    [["get", "k", "--default=v"], "write --default and what belongs to it as two words, without ="],
    [["list", "--all=yes"], "--all stands alone, without ="],
    [["get", "k", "--constructor=v"], "unknown flag: see wfvar get --help"],
  ])("%j: %s", (argv, message) => {
    using folder = variablesFolder();
    const { status, err } = saidBy(argv, folder.env);
    expect(status).toBe(2);
    expect(err).toContain(`wfvar: usage: ${message}`);
  });
});

describe("a key that looks like a file's name (WV-14)", () => {
  it.each([
    ["report.md", "report"],
    ["judge.report.MD", "report"],
    ["findings.all.json", "findings.all"],
    ["judge.md", undefined],
    ["md", undefined],
    ["findings.high", undefined],
  ])("set %s is done, and warns that %s may be meant", (key, meant) => {
    using folder = variablesFolder();
    const { status, err } = saidBy(["set", "-q", key, "s3cret"], folder.env);
    const full = key.startsWith("judge.") ? key.toLowerCase() : `judge.${key}`;
    expect(status).toBe(0);
    expect(loadValue(folder.env, full).text).toBe("s3cret");
    expect(err).toBe(
      meant === undefined
        ? ""
        : `wfvar: warning: ${full} is a file in a folder, since a dot makes a folder: if ${meant} was meant, drop the extension (wfvar unset ${full})\n`,
    );
  });
});

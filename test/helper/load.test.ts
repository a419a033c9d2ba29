import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, describe } from "vitest";
import { loadValue } from "../../helper/load.ts";
import { codeOf } from "./code-of.ts";
import { variablesFolder } from "./variables-folder.ts";

describe("where a key is looked for (WV-13)", () => {
  const tree = [
    "judge/VERDICT=own",
    "judge/plan/SUMMARY=own plan",
    "judge/judge/DEEP=nested",
    "judge/WORKFLOW=leaf",
    "judge/workflow/X=own workflow",
    "plan/SUMMARY=plan's",
    "plan/Title=plan's title",
    "workflow/item.uuid=u-1",
    "workflow/Item.Title=a title",
    "workflow/x=input",
    "STRAY=at the root",
    "review-loop_1/judge/findings/HIGH=three",
  ];

  it.each([
    ["verdict", "own"],
    ["VERDICT", "own"],
    ["Judge.Verdict", "own"],
    ["plan.summary", "own plan"],
    ["plan.title", "plan's title"],
    ["judge.judge.deep", "nested"],
    ["judge.workflow", "leaf"],
    ["judge.workflow.x", "own workflow"],
    ["workflow.x", "input"],
    ["workflow.item.uuid", "u-1"],
    ["WORKFLOW.ITEM.TITLE", "a title"],
    ["review-loop_1.judge.findings.high", "three"],
  ])("%s is %j", (key, text) => {
    using folder = variablesFolder("judge", tree);
    expect(loadValue(folder.env, key).text).toBe(text);
  });

  it.each([
    ["judge.deep", "the full prefix means the own folder and nothing else"],
    ["judge.plan.title", "not in the own folder"],
    ["stray", "a file under the root belongs to no step"],
    ["workflow", "a folder"],
    ["plan", "a folder"],
    ["workflow.item", "names under workflow are flat"],
    ["a.b.c.d.e.f.g.h", "eight segments are a valid key"],
  ])("%s is absent: %s", (key) => {
    using folder = variablesFolder("judge", tree);
    expect(codeOf(() => loadValue(folder.env, key))).toBe("not_found");
  });

  it("finds an eight-segment key of another step, which would be too deep in the own folder", () => {
    using folder = variablesFolder("judge", ["a/b/c/d/e/f/g/H=deep"]);
    expect(loadValue(folder.env, "a.b.c.d.e.f.g.h").text).toBe("deep");
  });

  it("takes the two segments of a loop step for its prefix", () => {
    using folder = variablesFolder("review-loop_2/judge", [
      "review-loop_2/judge/X=2",
      "review-loop_1/judge/X=1",
    ]);
    expect(loadValue(folder.env, "review-loop_2.judge.x").text).toBe("2");
    expect(loadValue(folder.env, "review-loop_1.judge.x").text).toBe("1");
    expect(loadValue(folder.env, "x").text).toBe("2");
  });

  it("merges folders that fold together (WV-2)", () => {
    using folder = variablesFolder("judge", ["judge/Findings/HIGH=1", "judge/findings/LOW=2"]);
    expect(loadValue(folder.env, "findings.high").text).toBe("1");
    expect(loadValue(folder.env, "findings.low").text).toBe("2");
  });
});

describe("values that come back byte for byte (WV-4)", () => {
  it.each([
    ["empty", ""],
    ["no trailing newline", "CLEAN"],
    ["a trailing newline", "CLEAN\n"],
    ["CRLF", "a\r\nb\r\n"],
    ["NUL", "a\0b\0"],
    ["four-byte UTF-8", "🦀 𝕏"],
    ["a byte order mark", "\uFEFFx"],
    ["the replacement character", "\uFFFD"],
    ["1 MiB, the limit", "x".repeat(1024 ** 2)],
  ])("%s", (_name, text) => {
    using folder = variablesFolder();
    writeFileSync(join(folder.self, "K"), text);
    const value = loadValue(folder.env, "k");
    expect(value.text).toBe(text);
    expect(Buffer.compare(value.bytes, Buffer.from(text))).toBe(0);
  });

  it.each([
    ["a byte more than 1 MiB", Buffer.alloc(1024 ** 2 + 1, "x"), "value_too_large"],
    ["a lone continuation byte", Buffer.from([0x61, 0x80]), "invalid_value"],
    ["an encoded surrogate", Buffer.from([0xed, 0xa0, 0x80]), "invalid_value"],
    ["an overlong NUL", Buffer.from([0xc0, 0x80]), "invalid_value"],
    ["a cut character", Buffer.from("é").subarray(0, 1), "invalid_value"],
  ])("refuses %s", (_name, bytes, code) => {
    using folder = variablesFolder();
    writeFileSync(join(folder.self, "K"), bytes);
    expect(codeOf(() => loadValue(folder.env, "k"))).toBe(code);
  });

  it("takes the limit from .step and names key, size and limit (WV-5)", () => {
    using folder = variablesFolder("judge", ["judge/K=12345"], { max_value_bytes: 4 });
    expect(() => loadValue(folder.env, "k")).toThrow(
      expect.objectContaining({ code: "value_too_large", key: "k", size: 5, limit: 4 }),
    );
  });
});

describe("keys that are refused (WV-2)", () => {
  it.each([
    "",
    ".",
    "a..b",
    "a.",
    "-a",
    "_a",
    "a b",
    "a\n",
    "é",
    "\u212Aey",
    "../x",
    "a/b",
    "x".repeat(65),
    "a.b.c.d.e.f.g.h.i",
  ])("%j is no key", (key) => {
    using folder = variablesFolder();
    expect(codeOf(() => loadValue(folder.env, key))).toBe("invalid_key");
  });

  it.each([
    ["two leaves", ["judge/Verdict=a", "judge/VERDICT=b"], "verdict"],
    ["leaves in folders that fold together", ["judge/F/X=a", "judge/f/x=b"], "f.x"],
    [
      "an own pair, even where another step has the key",
      ["judge/p/X=a", "judge/p/x=b", "p/X=c"],
      "p.x",
    ],
    ["two inputs", ["workflow/item.title=a", "workflow/Item.Title=b"], "workflow.item.title"],
  ])("%s that fold to one key are ambiguous", (_name, entries, key) => {
    using folder = variablesFolder("judge", entries);
    expect(codeOf(() => loadValue(folder.env, key))).toBe("ambiguous_key");
  });
});

describe("what is never followed (WV-11, WV-13)", () => {
  it.each([
    ["a link as leaf", ["outside/SECRET=s", "judge/K -> ../outside/SECRET"], "k"],
    ["a link as folder", ["outside/SECRET=s", "judge/f -> ../outside"], "f.secret"],
    [
      "a link as folder further down",
      ["outside/SECRET=s", "judge/a/b/f -> ../../../outside"],
      "a.b.f.secret",
    ],
    ["a link under the root", ["judge/other/X=s", "plan -> judge/other"], "plan.x"],
    ["a link in workflow", ["judge/X=s", "workflow/x -> ../judge/X"], "workflow.x"],
    ["a link for workflow", ["judge/X=s", "workflow -> judge"], "workflow.x"],
    ["a dangling link", ["judge/K -> nowhere"], "k"],
    ["a FIFO, without waiting for a writer", ["judge/K |"], "k"],
    ["a FIFO for a folder", ["judge/f |"], "f.x"],
  ])("%s", (_name, entries, key) => {
    using folder = variablesFolder("judge", entries);
    expect(codeOf(() => loadValue(folder.env, key))).toBe("unsafe_path");
  });

  it("a socket", async () => {
    using folder = variablesFolder();
    const server = createServer().listen(join(folder.self, "K"));
    await new Promise((resolve) => server.once("listening", resolve));
    expect(codeOf(() => loadValue(folder.env, "k"))).toBe("unsafe_path");
    await new Promise((resolve) => server.close(resolve));
  });

  it("a link does not hide a plain file of the same key", () => {
    using folder = variablesFolder("judge", [
      "judge/k -> /etc/passwd",
      "judge/K=mine",
      "judge/plan -> ..",
      "plan/X=theirs",
    ]);
    expect(loadValue(folder.env, "k").text).toBe("mine");
    expect(loadValue(folder.env, "plan.x").text).toBe("theirs");
  });
});

it("stops at the step's entry limit in a folder filled without end (WV-5)", () => {
  using folder = variablesFolder("judge", [], { max_step_entries: 20 });
  for (let i = 0; i < 21; i += 1) mkdirSync(join(folder.self, `d${String(i)}`));
  expect(codeOf(() => loadValue(folder.env, "k"))).toBe("step_entries_exceeded");
});

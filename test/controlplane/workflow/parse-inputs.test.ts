import { describe, expect, it } from "vitest";
import { parseInputs } from "../../../controlplane/workflow/parse-inputs.ts";

describe("parseInputs", () => {
  it.each([
    ["a name alone", "work", { name: "work", kind: "text", required: true, fallback: undefined }],
    ["a kind", "n:number", { name: "n", kind: "number", required: true }],
    [
      "an optional input",
      "note?:text",
      { name: "note", kind: "text", required: false, fallback: undefined },
    ],
    ["an optional input without a kind", "note?", { name: "note", kind: "text", required: false }],
    [
      "a fallback",
      "base:text=main",
      { name: "base", kind: "text", required: false, fallback: "main" },
    ],
    ["a fallback without a kind", "base=a=b", { name: "base", kind: "text", fallback: "a=b" }],
    ["an empty fallback", "base:text=", { required: false, fallback: "" }],
    ["a fallback with inner blanks and quotes", "base = it's  so ", { fallback: "it's  so" }],
    ["a quoted fallback", "base=' a, ''b'' '", { fallback: " a, 'b' " }],
    ["a json fallback", `cfg:json='{"a":1,"b":2}'`, { kind: "json", fallback: '{"a":1,"b":2}' }],
    [
      "a choice",
      "env:choice(dev | prod)=dev",
      { kind: "choice", options: ["dev", "prod"], fallback: "dev" },
    ],
    ["a dotted name", "item.title:text", { name: "item.title" }],
    [
      "blanks and line ends",
      "\n  work \n ?\n : text\n",
      { name: "work", kind: "text", required: false },
    ],
  ])("G-1 reads %s", (_, declaration, expected) => {
    const { inputs, problems } = parseInputs(declaration);
    expect(problems).toEqual([]);
    expect(inputs).toHaveLength(1);
    expect(inputs[0]).toMatchObject(expected);
  });

  it("G-1 reads inputs in the order of the declaration", () => {
    const { inputs, problems } = parseInputs("work:text,base:text=main,note?:text");
    expect(problems).toEqual([]);
    expect(inputs.map(({ name }) => name)).toEqual(["work", "base", "note"]);
  });

  it.each([
    ["an uppercase name", "Work", 0, "lowercase"],
    ["a name that is no key", "a/b", 0, "segments are letters"],
    ["a name beyond ASCII", "a,\u212a", 2, "segments are letters"],
    ["seven segments", "a.b.c.d.e.f.g", 0, "the limit is 6"],
    [
      "a name past the length of a file name",
      Array.from({ length: 4 }, () => "a".repeat(64)).join("."),
      0,
      "255",
    ],
    ["a name that the run keeps", "goal", 0, "keeps this name"],
    ["a name below one that the run keeps", "response.x", 0, "keeps this name"],
    ["a name that begins like an outcome", "outcome.a", 0, "keeps this name"],
    ["a name declared twice", "a,b,a", 4, "declared twice"],
    ["a name that extends another", "a.b.c,a", 0, "extends another one, `a`"],
    ["an unknown kind", "a:strng", 0, "unknown kind `strng`"],
    ["a choice without options", "a:choice", 0, "choice(a|b)"],
    ["options of another kind", "a:text(x)", 0, "choice(a|b)"],
    ["an empty option", "a:choice(x|)", 0, "empty option"],
    ["an optional input with a fallback", "a?:text=x", 0, "the fallback alone is enough"],
    ["a fallback of another kind", "a,n:number=many", 2, "must be a number"],
    ["a fallback that is no option", "a:choice(x|y)=z", 0, "must be one of x, y"],
    ["an open quote", "a='x", 0, "no closing quote"],
    ["text after a quoted fallback", "a='x' y", 0, "not of the form"],
    ["an entry without a name", "a,,b", 2, "has no name"],
    ["a comma at the end", "a, ", 3, "after the last comma"],
  ])("G-5 refuses %s", (_, declaration, index, message) => {
    const { problems } = parseInputs(declaration);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.index).toBe(index);
    expect(problems[0]?.message).toContain(message);
  });

  it("reports the problems of all entries, and goes on after each", () => {
    const { inputs, problems } = parseInputs("A, b:nope, c, d?=1, e");
    expect(problems.map(({ index }) => index)).toEqual([0, 3, 14]);
    expect(inputs.map(({ name }) => name)).toEqual(["c", "e"]);
  });

  it("declares at most 256 inputs", () => {
    const names = Array.from({ length: 257 }, (_, i) => `i${String(i)}`);
    expect(parseInputs(names.slice(1).join(",")).problems).toEqual([]);
    expect(parseInputs(names.join(",")).problems).toHaveLength(1);
  });
});

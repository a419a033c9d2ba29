import { describe, expect, it } from "vitest";
import { foldNameBytes, parseKey } from "../../contract/key.ts";

describe("parseKey (WV-2)", () => {
  it.each([
    ["verdict", ["verdict"]],
    ["JUDGE.Findings.HIGH", ["judge", "findings", "high"]],
    ["0.a_b-c", ["0", "a_b-c"]],
    [`${"a".repeat(64)}.b`, ["a".repeat(64), "b"]],
    ["a.b.c.d.e.f.g.h", ["a", "b", "c", "d", "e", "f", "g", "h"]],
    ["workflow.item.uuid", ["workflow", "item", "uuid"]],
  ])("accepts %s", (text, segments) => {
    expect(parseKey(text)).toEqual({ segments });
  });

  it.each([
    [""],
    ["."],
    ["a."],
    [".a"],
    ["a..b"],
    ["-a"],
    ["_a"],
    ["a b"],
    ["a/b"],
    ["a\n"],
    ["a.b\n"],
    ["\u212a"],
    ["é"],
    ["a".repeat(65)],
    ["a.b.c.d.e.f.g.h.i"],
  ])("refuses %j", (text) => {
    expect(parseKey(text)).toHaveProperty("problem");
  });

  it("never lowercases a non-ASCII byte into a letter", () => {
    expect(foldNameBytes(Buffer.from("\u212a"))).toBeUndefined();
    expect(foldNameBytes(Buffer.from([0xe2, 0x84, 0xaa]))).toBeUndefined();
    expect(foldNameBytes(Buffer.from("K"))).toBe("k");
  });
});

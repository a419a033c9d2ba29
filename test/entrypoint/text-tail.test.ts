import { describe, expect, it } from "vitest";
import { TextTail } from "../../entrypoint/text-tail.ts";

describe("the tail of a text (WV-4, WV-15)", () => {
  it.each([
    ["short enough", "abc", 3, "abc"],
    ["cut", "abcdef", 3, "def"],
    ["cut inside a character", "a\u{1f600}b", 4, "b"],
    ["cut between characters", "a\u{1f600}b", 5, "\u{1f600}b"],
    ["a character larger than the limit", "\u{1f600}", 3, ""],
    ["nothing", "", 5, ""],
    ["a byte order mark, which is text", "\ufeffa", 4, "\ufeffa"],
  ])("is %s, in one piece and byte by byte", (_, text, maxBytes, expected) => {
    const whole = new TextTail(maxBytes);
    whole.push(Buffer.from(text));
    const pieces = new TextTail(maxBytes);
    for (const byte of Buffer.from(text)) pieces.push(Buffer.from([byte]));
    expect([whole.bytes().toString(), pieces.bytes().toString()]).toEqual([expected, expected]);
  });

  it("is the last bytes, whatever pieces they come in", () => {
    const text = Array.from({ length: 3000 }, (_, i) => `${String(i)},`).join("");
    for (const piece of [1, 2, 7, 99, 100, 101, 202, 203, 1000, text.length]) {
      const tail = new TextTail(100);
      for (let i = 0; i < text.length; i += piece) tail.push(Buffer.from(text.slice(i, i + piece)));
      expect([piece, tail.bytes().toString()]).toEqual([piece, text.slice(-100)]);
    }
  });

  it("has replacements for what is no UTF-8, and stays within its limit", () => {
    const tail = new TextTail(10);
    tail.push(Buffer.alloc(50, 0xff));
    expect(tail.bytes().toString()).toBe("\ufffd".repeat(3));
  });

  it("does not keep the pieces: a million of one byte cost no more than their bytes", () => {
    const tail = new TextTail(1024 ** 2);
    const before = process.memoryUsage();
    const held = () => process.memoryUsage().arrayBuffers - before.arrayBuffers;
    const piece = Buffer.from("x");
    for (let i = 0; i < 1_500_000; i += 1) tail.push(piece);
    expect(held()).toBeLessThan(4 * 1024 ** 2);
    expect(tail.bytes()).toHaveLength(1024 ** 2);
  });
});

import { describe, expect, it } from "vitest";
import { formatSize, parseDurationMs, parseSizeBytes } from "../../contract/quantity.ts";

describe("quantities in settings", () => {
  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["30d", 2_592_000_000],
    ["0s", 0],
    ["30", undefined],
    ["1.5s", undefined],
    ["-1s", undefined],
    ["1 s", undefined],
    ["", undefined],
  ])("reads the duration %j", (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each([
    ["4096", 4096],
    ["1B", 1],
    ["64KiB", 65_536],
    ["1MiB", 1_048_576],
    ["2GiB", 2_147_483_648],
    ["1MB", undefined],
    ["1kib", undefined],
    ["999999999999GiB", undefined],
  ])("reads the size %j", (text, bytes) => {
    expect(parseSizeBytes(text)).toBe(bytes);
  });

  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [1023, "1023 bytes"],
    [1536, "1.5 KiB"],
    [1_048_576, "1 MiB"],
    [3_221_225_472, "3 GiB"],
  ])("writes %d as %s", (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatMarker, parseMarker, type Marker } from "../../contract/marker.ts";
import { marker as markerOnTheWire } from "../../contract/wire.ts";

const marker: Marker = {
  version: 1,
  outcome: "failed",
  exit_code: 137,
  signal: "SIGKILL",
  started_at: "2026-12-01T00:00:00.000Z",
  finished_at: "2026-12-01T00:00:01.5Z",
  finalize: { status: "failed", failed: ["10-push"] },
  kit: "1.2.3",
};

describe("the completion marker (WV-6)", () => {
  it("reads back what it writes", () => {
    expect(parseMarker(formatMarker(marker))).toEqual(marker);
  });

  it("drops unknown fields", () => {
    const more = { ...marker, extra: 1, finalize: { ...marker.finalize, extra: 2 } };
    expect(parseMarker(Buffer.from(JSON.stringify(more)))).toEqual(marker);
  });

  it("stays within 4096 bytes however many hooks failed", () => {
    const failed = Array.from({ length: 500 }, (_, i) => `hook-${String(i)}`);
    const bytes = formatMarker({ ...marker, finalize: { status: "failed", failed } });
    expect(bytes.length).toBeLessThanOrEqual(4096);
    expect(parseMarker(bytes)?.finalize.failed[0]).toBe("hook-0");
  });

  it("lets nothing pass that could not travel in a pack", () => {
    const field = fc.oneof(
      fc.string({ unit: "binary", maxLength: 100 }),
      fc.integer(),
      fc.constant(null),
      fc.array(fc.string(), { maxLength: 3 }),
    );
    const forged = fc.tuple(
      fc.constantFrom("kit", "signal", "exit_code", "started_at", "outcome", "finalize", "failed"),
      field,
    );
    fc.assert(
      fc.property(fc.array(forged, { maxLength: 3 }), (changes) => {
        const { failed, ...rest } = Object.fromEntries(changes);
        const finalize = failed === undefined ? marker.finalize : { ...marker.finalize, failed };
        const read = parseMarker(Buffer.from(JSON.stringify({ ...marker, finalize, ...rest })));
        if (read !== undefined) expect(markerOnTheWire.safeParse(read).success).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["a kit of 65 characters", JSON.stringify({ ...marker, kit: "k".repeat(65) })],
    ["empty", ""],
    ["half", JSON.stringify(marker).slice(0, 50)],
    ["an array", "[]"],
    ["another version", JSON.stringify({ ...marker, version: 2 })],
    ["another outcome", JSON.stringify({ ...marker, outcome: "great" })],
    ["a code over 255", JSON.stringify({ ...marker, exit_code: 256 })],
    ["a fraction", JSON.stringify({ ...marker, exit_code: 1.5 })],
    ["no signal name", JSON.stringify({ ...marker, signal: "kill\nit" })],
    ["a time without zone", JSON.stringify({ ...marker, started_at: "2026-12-01T00:00:00" })],
    ["an impossible time", JSON.stringify({ ...marker, started_at: "2026-13-01T00:00:00Z" })],
    ["no finalize", JSON.stringify({ ...marker, finalize: null })],
    ["4097 bytes", JSON.stringify({ ...marker, kit: "k".repeat(4097) })],
    ["not UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
  ])("refuses %s", (_, bytes) => {
    expect(parseMarker(Buffer.from(bytes))).toBeUndefined();
  });
});

import { packCodes } from "../../../contract/codes.ts";
import { maxSegments } from "../../../contract/key.ts";
import { valuesFolder } from "../../../contract/pack.ts";
import { Skipped, type Check } from "../check.ts";
import { emptyValues, fillStep } from "../fill-step.ts";
import type { FreshStep } from "../fixture.ts";
import type { PackSpec } from "../make-pack.ts";
import { refusesPack } from "./refuses-pack.ts";

/** Keys, values, counts and order, checked again by the control plane (WV-2, WV-4, WV-5, WV-11). */
export const valueChecks: readonly Check[] = [
  key("of another step", () => "conformance-other.a"),
  key("that is the step's own path", ({ step }) => step),
  key("in uppercase", ({ step }) => `${step}.A`),
  key("with a blank", ({ step }) => `${step}.a b`),
  key("with a line end behind it", ({ step }) => `${step}.a\n`),
  key("with the Kelvin sign, which lowercases to k", ({ step }) => `${step}.\u212a`),
  key("that begins with a hyphen", ({ step }) => `${step}.-a`),
  key("with an empty segment", ({ step }) => `${step}..a`),
  key("with a segment of 65 characters", ({ step }) => `${step}.${"a".repeat(65)}`),
  key(
    "of nine segments",
    ({ step }) => step + ".a".repeat(maxSegments + 1 - step.split(".").length),
  ),
  key("with a slash", ({ step }) => `${step}./../a`),
  twoKeys("two keys that fold to one", "A", "a"),
  twoKeys("a key twice", "a", "a"),
  twoKeys("keys that are not in ascending order", "b", "a"),
  twoKeys("a leaf that is also a folder, with no letter to tell them apart", "1", "1.x"),
  notUtf8("a byte that never is", [0xff]),
  notUtf8("an overlong form", [0xc0, 0xaf]),
  notUtf8("half of a surrogate pair", [0xed, 0xa0, 0x80]),
  notUtf8("a character cut short", [0xf0, 0x9f, 0x98]),
  refusesPack("WV-11", "a value longer than announced", (step) => announced(step, 1, "22")),
  refusesPack("WV-11", "a value shorter than announced", (step) => announced(step, 2, "1")),
  refusesPack("WV-11", "a value that was not announced", ({ step }) => ({
    entries: [[`${valuesFolder}${step}.a`, "1"]],
  })),
  refusesPack("WV-11", "an announced value that does not come", () => ({
    values: { a: "1" },
    entries: [],
  })),
  refusesPack("WV-11", "values in another order than announced", ({ step }) => ({
    values: { a: "1", b: "2" },
    entries: [
      [`${valuesFolder}${step}.b`, "2"],
      [`${valuesFolder}${step}.a`, "1"],
    ],
  })),
  refusesPack("WV-11", "a value outside values/", ({ step }) => ({
    values: { a: "1" },
    entries: [[`${step}.a`, "1"]],
  })),
  refusesPack("WV-11", "a value whose name climbs out of values/", ({ step }) => ({
    values: { a: "1" },
    entries: [[`${valuesFolder}../${step}.a`, "1"]],
  })),
  refusesPack(
    "WV-5",
    "a value over max_value_bytes",
    ({ limits }) => ({ values: { a: Buffer.alloc(limits.max_value_bytes + 1) } }),
    ["invalid_pack", "too_large"],
  ),
  refusesPack(
    "WV-5",
    "values over max_step_bytes together",
    ({ limits }) => {
      const values = fillStep(limits, limits.max_step_bytes + 1);
      if (values === undefined) throw new Skipped("max_step_files is too small for that");
      return { values };
    },
    ["invalid_pack", "too_large"],
  ),
  refusesPack(
    "WV-5",
    "more than max_step_files values",
    ({ limits }) => ({ values: emptyValues(limits.max_step_files + 1) }),
    ["invalid_pack", "too_large"],
  ),
  ...packCodes.map((code) =>
    refusesPack("WV-11", `values beside ${code}`, () => ({
      values: { a: "1" },
      manifest: { rejected: [{ code, path: ".", limit: 1 }] },
    })),
  ),
];

/** One value under a full key, all else as it should be. */
function key(what: string, keyOf: (step: FreshStep) => string): Check {
  return refusesPack("WV-2", `a key ${what}`, (step) => {
    const full = keyOf(step);
    return {
      manifest: { variables: [{ key: full, size: 1 }] },
      entries: [[valuesFolder + full, "1"]],
    };
  });
}

/** Two values under keys relative to the step, announced and sent in this order. */
function twoKeys(what: string, first: string, second: string): Check {
  return refusesPack("WV-2", what, ({ step }) => {
    const keys = [`${step}.${first}`, `${step}.${second}`];
    return {
      manifest: { variables: keys.map((each) => ({ key: each, size: 1 })) },
      entries: keys.map((each) => [valuesFolder + each, "1"]),
    };
  });
}

function notUtf8(what: string, bytes: readonly number[]): Check {
  return refusesPack("WV-4", `a value that is not UTF-8: ${what}`, () => ({
    values: { a: Buffer.from(bytes) },
  }));
}

function announced({ step }: FreshStep, size: number, value: string): PackSpec {
  return {
    manifest: { variables: [{ key: `${step}.a`, size }] },
    entries: [[`${valuesFolder}${step}.a`, value]],
  };
}

import {
  array,
  boolean,
  constantFrom,
  nat,
  oneof,
  record,
  sample,
  type Arbitrary,
} from "fast-check";
import { expect, it } from "vitest";
import { manifestOf, sentOf, tarEntry, type PackVector, type SentVector } from "./pack-vector.ts";
import { readInJavaScript, readInPython, type PackOutcome } from "./read-sent-packs.ts";

/** What stands in for a member of pack.json: near what may be there, and far from it. */
const junk = oneof(
  constantFrom<unknown[]>(null, true, 0, -0, 1, 2, 1.5, -1, 255, 256, 4096, 4097, 1e21, 2 ** 53),
  constantFrom<unknown[]>([], {}, [{}], [{ code: "unreadable", path: "X" }], { unreadable: 1 }),
  constantFrom("", "x", "judge", "Judge", "judge.a", "judge.zz", "judge.1", "é", "\ud800", "a\n"),
  constantFrom("\u{1f600}".repeat(64), "\u{1f600}".repeat(65), "k".repeat(64), "k".repeat(65)),
  constantFrom("lost", "marker", "failed", "terminated", "SIGKILL", "timed_out", "unreadable"),
  constantFrom(
    "2026-02-31T00:00:00Z",
    "2026-12-01T24:00:00Z",
    "2026-12-01T24:00:00.000Z",
    "2026-12-01T24:00:00.1Z",
    "2026-12-01T23:59:60Z",
    "2026-12-01T00:00:00.123456789+23:59",
    "2026-12-01T00:00:00.1234567890Z",
    "0000-01-01T00:00:00Z",
  ),
);

interface JsonChange {
  /** Which member at each level, modulo how many there are. */
  readonly path: readonly number[];
  readonly what: "replace" | "remove" | "add";
  readonly value: unknown;
}

const jsonChange: Arbitrary<JsonChange> = record({
  path: array(nat(40), { minLength: 1, maxLength: 4 }),
  what: constantFrom("replace", "replace", "replace", "remove", "add"),
  value: junk,
});

function changeJson(
  target: unknown,
  { path: [first = 0, ...rest], what, value }: JsonChange,
): void {
  if (typeof target !== "object" || target === null) return;
  const members = target as Record<string, unknown>;
  const names = Object.keys(members);
  const name = names[first % names.length];
  if (what === "add" && rest.length === 0) members["extra"] = value;
  else if (name === undefined) return;
  else if (rest.length > 0) changeJson(members[name], { path: rest, what, value });
  else if (what === "replace") members[name] = structuredClone(value);
  else if (Array.isArray(target)) target.splice(Number(name), 1);
  else delete members[name];
}

interface ByteChange {
  readonly what: "set" | "cut" | "drop" | "double" | "swap" | "append" | "insert";
  readonly block: number;
  /** Where in the block: where headers have their fields, more often than not. */
  readonly at: number;
  readonly byte: number;
  readonly repair: boolean;
  /** Of an entry to insert. */
  readonly name: string;
}

const byteChange: Arbitrary<ByteChange> = record({
  what: constantFrom(
    "set",
    "set",
    "set",
    "set",
    "set",
    "cut",
    "drop",
    "double",
    "swap",
    "append",
    "insert",
  ),
  block: nat(20),
  at: oneof(
    nat(511),
    constantFrom(
      0,
      9,
      99,
      107,
      124,
      130,
      134,
      135,
      148,
      154,
      155,
      156,
      157,
      257,
      262,
      345,
      499,
      500,
    ),
  ),
  byte: oneof(nat(255), constantFrom(0, 0x20, 0x2f, 0x30, 0x31, 0x35, 0x37, 0x38, 0x78, 0x80)),
  repair: boolean(),
  name: constantFrom("", "pack.json", "values/judge.a", "values/judge.zz"),
});

function changeBytes(body: Buffer, { what, block, at, byte, repair, name }: ByteChange): Buffer {
  const start = (block % Math.max(1, Math.floor(body.length / 512))) * 512;
  const [before, here] = [body.subarray(0, start), body.subarray(start, start + 512)];
  const after = body.subarray(start + 512);
  if (what === "set") {
    if (at < here.length) here[at] = byte;
    if (repair && here.length === 512) repairChecksum(here);
    return body;
  }
  const changed = {
    cut: [before, here.subarray(0, at)],
    drop: [before, after],
    double: [before, here, here, after],
    swap: [before, after.subarray(0, 512), here, after.subarray(512)],
    append: [body, Buffer.alloc(at, byte)],
    insert: [before, ...tarEntry({ name, content: at % 2 === 0 ? "" : "1" }), here, after],
  } satisfies Record<typeof what, Buffer[]>;
  return Buffer.concat(changed[what]);
}

/** Only of what looks like a header: contents stay as they were changed. */
function repairChecksum(block: Buffer): void {
  if (block.toString("latin1", 257, 262) !== "ustar") return;
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, one) => total + one, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
}

const long = `judge.${"k".repeat(64)}.${"l".repeat(64)}`;
const paxPath = ` path=values/${long}\n`;
const base: Arbitrary<PackVector> = constantFrom(
  { name: "random", clause: "WV-11", values: { "judge.a": "1", "judge.b.c": "two" } },
  { name: "random", clause: "WV-11", values: {}, outputs: [{ key: "a" }], missingOutput: "fail" },
  {
    name: "random",
    clause: "WV-11",
    limits: { max_value_bytes: 600 },
    values: { "judge.1": "", "judge.a": { repeat: "é", times: 300 }, "judge.a.x": "\0" },
    manifest: {
      rejected: [{ code: "unreadable", path: "X", key: "judge.x", size: 3, limit: 4 }],
      skipped: [{ code: "skipped_fifo", path: "F" }],
      more: { unreadable: 2, skipped_fifo: 1 },
    },
  },
  {
    name: "random",
    clause: "WV-11",
    manifest: { variables: [{ key: long, size: 4 }] },
    tar: [
      "pack.json",
      { name: "P", type: "x", content: `${String(paxPath.length + 3)}${paxPath}` },
      { name: "x", content: "deep" },
      "end",
    ],
  },
);

const sent: Arbitrary<SentVector> = record({
  vector: base,
  json: array(jsonChange, { maxLength: 2 }),
  bytes: array(byteChange, { maxLength: 2 }),
  keepDigest: constantFrom(false, false, false, true),
}).map(({ vector, json, bytes, keepDigest }) => {
  const manifest = manifestOf(vector);
  for (const change of json) changeJson(manifest, change);
  const changed = sentOf({ ...vector, json: JSON.stringify(manifest) });
  const body = bytes.reduce(changeBytes, Buffer.from(changed.body));
  return keepDigest
    ? { ...changed, body }
    : sentOf({ ...vector, tar: [{ bytes: asContent(body) }] });
});

function asContent(body: Buffer): { base64: string } {
  return { base64: body.toString("base64") };
}

/** Everything but the words of a refusal. */
function essence(outcome: PackOutcome): unknown {
  return "code" in outcome ? { code: outcome.code, status: outcome.status } : outcome;
}

it("JavaScript and Python accept and refuse the same of 600 mutated packs, and read the same (WV-11)", async () => {
  const packs = sample(sent, { numRuns: 600, seed: 20_261_201 });
  const inPython = readInPython(packs);
  const seen = new Map<string, number>();
  for (const [i, pack] of packs.entries()) {
    const inJavaScript = await readInJavaScript(pack);
    const outcome = inPython[i];
    const code = "code" in inJavaScript ? inJavaScript.code : "accepted";
    seen.set(code, (seen.get(code) ?? 0) + 1);
    expect(outcome && essence(outcome), pack.body.toString("base64")).toEqual(
      essence(inJavaScript),
    );
  }
  // Else the changes were too tame, or too wild, to show a difference.
  expect(seen.get("accepted")).toBeGreaterThan(100);
  expect(seen.get("invalid_pack")).toBeGreaterThan(200);
  expect(seen.get("digest_mismatch")).toBeGreaterThan(5);
});

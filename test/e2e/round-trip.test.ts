import * as fc from "fast-check";
import { isUtf8 } from "node:buffer";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { parseStepPath } from "../../contract/ids.ts";
import { defaultLimits } from "../../contract/limits.ts";
import { loadValue } from "../../helper/load.ts";
import { collect } from "../../sidecar/collect.ts";
import { openRoot, withFd } from "../../sidecar/descriptor.ts";
import { buildPack } from "../../sidecar/pack.ts";
import { PrefillWriter } from "../../sidecar/prefill-writer.ts";
import { unpackPrefill } from "../../sidecar/unpack-prefill.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { putPack } from "../support/packs.ts";
import { withRoot } from "../support/with-root.ts";
import { tempFolder } from "../support/temp-folder.ts";

const limits = { ...defaultLimits, max_value_bytes: 64 };

interface Entry {
  readonly path: readonly string[];
  readonly content: Buffer | "link";
}

const names = [
  "a",
  "A",
  "b",
  "B",
  "1",
  "x-y",
  "HIGH",
  "high",
  "bad name",
  "report.md",
  ".dot",
  "é",
  "n\n",
  "z".repeat(65),
];
const entry: fc.Arbitrary<Entry> = fc.record({
  path: fc
    .array(fc.constantFrom(...names), { minLength: 1, maxLength: 9 })
    .filter((path) => path.length < 5 || path.length > 6),
  content: fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .string({ unit: "binary", maxLength: 12 })
        .map((text): Buffer => Buffer.from(text)),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(Buffer.from([0xff]), Buffer.alloc(65, 0x61), Buffer.alloc(0)),
    },
    { weight: 1, arbitrary: fc.constant("link" as const) },
  ),
});

/** Puts what fits into the tree; gives what is there then. */
function build(own: string, entries: readonly Entry[]): Entry[] {
  mkdirSync(own, { recursive: true });
  return entries.filter(({ path, content }) => {
    const target = join(own, ...path);
    try {
      mkdirSync(dirname(target), { recursive: true });
      if (content === "link") symlinkSync("/etc/passwd", target);
      else writeFileSync(target, content, { flag: "wx" });
      return true;
    } catch {
      return false;
    }
  });
}

/** The rules once more, written without a look at the walk: WV-2, WV-4, WV-5, WV-11. */
function model(entries: readonly Entry[]): { values: Map<string, Buffer>; issues: Set<string> } {
  const valid = (name: string): boolean => /^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name);
  const issues = new Set<string>();
  const report = (code: string, path: readonly string[]) => issues.add(`${code} ${path.join("/")}`);
  const reached: { key: string; entry: Entry }[] = [];
  for (const each of entries) {
    const { path, content } = each;
    const isLeaf = (depth: number): boolean => depth === path.length - 1;
    // The first name on the way that ends the matter; a folder at the seventh place may not hold more.
    const stop = path.findIndex(
      (name, depth) =>
        name.startsWith(".") || !valid(name) || depth >= 7 || (depth === 6 && !isLeaf(depth)),
    );
    const at = path.slice(0, stop + 1);
    if (stop !== -1 && at.at(-1)?.startsWith(".")) report("skipped_dotfile", at);
    else if (stop !== -1 && isLeaf(stop) && content === "link") report("skipped_symlink", at);
    else if (stop !== -1) report("invalid_output_key", at);
    else if (content === "link") report("skipped_symlink", path);
    else reached.push({ key: path.join(".").toLowerCase(), entry: each });
  }
  const values = new Map<string, Buffer>();
  // Longest first: whether a leaf clashes depends on what was accepted below its name.
  for (const { key, entry: each } of reached.toSorted(
    (a, b) => b.key.split(".").length - a.key.split(".").length,
  )) {
    const { path, content } = each;
    if (content === "link") continue;
    const clash =
      !/[a-z]/i.test(path.at(-1) ?? "") &&
      [...values.keys()].some((other) => other.startsWith(`${key}.`));
    if (reached.filter((other) => other.key === key).length > 1 || clash)
      report("invalid_output_key", path);
    else if (content.length > limits.max_value_bytes) report("value_too_large", path);
    else if (!isUtf8(content)) report("invalid_output_value", path);
    else values.set(key, content);
  }
  return { values, issues };
}

it("brings every accepted value of a random tree to the next step byte for byte, and reports every other entry", async () => {
  const cp = await startControlPlane({ max_value_bytes: limits.max_value_bytes });
  const step = parseStepPath("judge");
  const reader = parseStepPath("report");
  if (step === undefined || reader === undefined) throw new Error("unreachable");
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 24 }), async (entries) => {
      const root = tempFolder();
      const there = build(join(root, "judge"), entries);
      const expected = model(there);

      const collected = withFd(openRoot(root), (fd) => collect(fd, step, "marker", limits));
      const escaped = (path: string): string =>
        path.replaceAll("é", "\\xc3\\xa9").replaceAll("\n", "\\x0a");
      const issues = [...collected.rejected, ...collected.skipped].map(
        ({ code, path }) => `${code} ${path}`,
      );
      expect(issues.toSorted()).toEqual([...expected.issues].map(escaped).toSorted());

      const run = await cp.createRun();
      const { token } = await cp.stamp(run, { step: "judge" });
      const target = {
        cpUrl: new URL(cp.stepUrl),
        tokenFile: "",
        run,
        step,
        attempt: 1,
        instance: "pod-1",
        caFile: undefined,
        proxy: undefined,
        traceparent: undefined,
      };
      const pack = await buildPack(collected, target, limits);
      const put = await putPack(cp.stepUrl, run, "judge", Buffer.concat(pack.chunks), { token });
      expect([put.status, put.json["accepted"]]).toEqual([201, expected.values.size]);

      const next = await cp.stamp(run, { step: "report", depends_on: ["judge"] });
      const answer = await fetch(`${cp.stepUrl}/v1/runs/${run}/steps/report/variables?attempt=1`, {
        headers: { authorization: `Bearer ${next.token}`, "wfvar-instance": "pod-2" },
      });
      const elsewhere = tempFolder();
      const body = [Buffer.from(await answer.arrayBuffer())];
      const headers = { "content-digest": answer.headers.get("content-digest") ?? "" };
      await withRoot(elsewhere, async (fd) => {
        const writer = new PrefillWriter(fd);
        await unpackPrefill({ headers, body: asStream(body) }, reader, writer);
        writer.close(["report"]);
      });
      const env = {
        WORKFLOW_VARIABLES_ROOT: elsewhere,
        WORKFLOW_VARIABLES_SELF: join(elsewhere, "report"),
      };
      for (const [key, bytes] of expected.values) {
        expect(Buffer.from(loadValue(env, `judge.${key}`).bytes).equals(bytes)).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
}, 120_000);

async function* asStream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

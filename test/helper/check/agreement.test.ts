import * as fc from "fast-check";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { parseStepPath } from "../../../contract/ids.ts";
import { defaultLimits, type Limits } from "../../../contract/limits.ts";
import { checkStep } from "../../../helper/check/check-step.ts";
import { withStep } from "../../../helper/step.ts";
import { collect } from "../../../sidecar/collect.ts";
import { openRoot, withFd } from "../../../sidecar/descriptor.ts";
import { openDescriptors } from "../open-descriptors.ts";
import { variablesFolder } from "../variables-folder.ts";

interface Entry {
  readonly path: readonly string[];
  readonly content: Buffer | "link" | "fifo" | "folder";
}

/** Few names, so that they collide, merge and shadow often. */
const name = fc.constantFrom(
  "a",
  "A",
  "b",
  "B",
  "1",
  "x-y",
  "high",
  "HIGH",
  "bad name",
  "report.md",
  "\\",
  ".dot",
  "é",
  "n\n",
  "z".repeat(65),
);
const text = fc
  .string({ unit: "binary", maxLength: 12 })
  .map((value): Entry["content"] => Buffer.from(value));
const odd = fc.constantFrom<Entry["content"]>(
  Buffer.from([0xff]),
  Buffer.alloc(65, 0x61),
  Buffer.alloc(0),
  "link",
  "fifo",
  "folder",
);
const entry: fc.Arbitrary<Entry> = fc.record({
  path: fc.oneof(
    { weight: 3, arbitrary: fc.array(name, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(name, { minLength: 4, maxLength: 9 }) },
  ),
  content: fc.oneof({ weight: 3, arbitrary: text }, { weight: 2, arbitrary: odd }),
});
const limits: fc.Arbitrary<Limits> = fc.record({
  max_value_bytes: fc.constant(64),
  max_step_bytes: fc.constantFrom(20, 1000),
  max_step_files: fc.constantFrom(2, 100),
  max_step_entries: fc.constantFrom(10, 1000),
});

function put(folder: string, { path, content }: Entry): void {
  const target = join(folder, ...path);
  try {
    mkdirSync(dirname(target), { recursive: true });
    if (content === "link") symlinkSync("/etc/passwd", target);
    else if (content === "fifo") execFileSync("mkfifo", [target], { stdio: "ignore" });
    else if (content === "folder") mkdirSync(target);
    else writeFileSync(target, content, { flag: "wx" });
  } catch {
    // What cannot be made beside the rest is left out.
  }
}

function advised<T>(issue: T): T & { advice: unknown } {
  return { ...issue, advice: expect.any(String) };
}

it("says of every random tree what the sidecar would collect of it (WV-11, WV-14)", () => {
  const met = new Set<string>();
  const before = openDescriptors();
  fc.assert(
    fc.property(
      fc.constantFrom("judge", "fix_2.judge"),
      fc.array(entry, { maxLength: 20 }),
      fc.array(entry, { maxLength: 3 }),
      fc.option(limits, { nil: { ...defaultLimits, max_value_bytes: 64 } }),
      (stepText, entries, beside, given) => {
        using folder = variablesFolder(stepText.replace(".", "/"), [], given);
        for (const each of entries) put(folder.self, each);
        for (const each of beside) put(dirname(folder.self), each);
        const step = parseStepPath(stepText);
        if (step === undefined) throw new Error("unreachable");

        const packed = withFd(openRoot(folder.root), (fd) => collect(fd, step, "marker", given));
        const report = withStep(folder.env, checkStep);

        expect(report.accepted).toEqual(
          packed.values.map(({ key, bytes }) => ({ key, size: bytes.length })),
        );
        expect(report.rejected).toEqual(packed.rejected.map(advised));
        expect(report.skipped).toEqual(packed.skipped.map(advised));
        expect(report.ok).toBe(packed.rejected.length === 0);
        for (const { code } of [...packed.rejected, ...packed.skipped]) met.add(code);
        if (packed.values.length > 0) met.add("accepted");
      },
    ),
    { numRuns: 300 },
  );
  expect(openDescriptors()).toBe(before);
  // Else the trees were too tame to show a difference.
  expect([...met].toSorted()).toEqual([
    "accepted",
    "invalid_output_key",
    "invalid_output_value",
    "skipped_dotfile",
    "skipped_fifo",
    "skipped_symlink",
    "step_bytes_exceeded",
    "step_entries_exceeded",
    "step_files_exceeded",
    "stray_at_root",
    "value_too_large",
  ]);
}, 120_000);

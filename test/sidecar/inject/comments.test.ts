import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { runInject, stepFlags } from "./run-inject.ts";

/** Manifests of all layouts, some with everything that injection replaces. */
const files = ["pod", "job-flush-lists", "init-containers", "comments", "anchors", "kit-volume"];
const runs = 15;
const flags = [...stepFlags, "--container", "agent"];

function values(manifest: string): unknown[] {
  return parseAllDocuments(manifest, { version: "1.1" }).map((document) => document.toJS());
}

/** Where a mark goes, what it is, and how far a comment of its own line is indented. */
const mark = fc.tuple(fc.nat(), fc.constantFrom("blank", "line", "behind"), fc.nat(12));
type Mark = readonly [number, "blank" | "line" | "behind", number];

function withMarks(manifest: string, marks: readonly Mark[]): string {
  const lines = manifest.split("\n");
  const placed = marks.map(
    ([at, kind, indent]) => [at % (lines.length - 1), kind, indent] as const,
  );
  // From the end on, so that places stay what they were.
  for (const [at, kind, indent] of placed.toSorted(([a], [b]) => b - a)) {
    const line = lines[at] ?? "";
    const own = `# mark${String(at)}.`;
    if (kind === "blank") lines.splice(at, 0, "");
    else if (kind === "line") lines.splice(at, 0, `${" ".repeat(indent)}${own}`);
    else if (line !== "" && !line.includes("#")) lines[at] = `${line}   ${own}`;
  }
  return lines.join("\n");
}

describe("comments and blank lines, wherever they stand,", () => {
  it.each(files)(
    "change nothing else in %s, are kept, and let a second run change nothing",
    async (file) => {
      const input = readFileSync(join(import.meta.dirname, "fixtures", `${file}.in.yaml`), "utf8");
      const expected = values((await runInject(input, flags)).stdout);
      await fc.assert(
        fc.asyncProperty(fc.array(mark, { maxLength: 8 }), async (marks) => {
          const marked = withMarks(input, marks);
          const { stdout } = await runInject(marked, flags);
          expect(values(stdout)).toEqual(expected);
          expect((await runInject(stdout, flags)).stdout).toBe(stdout);
          const kept = new Set(stdout.match(/# mark\d+\./g));
          for (const [comment] of marked.matchAll(/# mark\d+\./g)) expect(kept).toContain(comment);
        }),
        { numRuns: runs },
      );
    },
  );
});

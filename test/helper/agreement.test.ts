import { array, assert, constantFrom, property, record } from "fast-check";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { compareKeys } from "../../contract/key.ts";
import { listKeys } from "../../helper/keys.ts";
import { loadValue } from "../../helper/load.ts";
import { saveValue } from "../../helper/save.ts";
import { codeOf } from "./code-of.ts";
import { variablesFolder } from "./variables-folder.ts";

/** Few names, so that they collide, shadow and merge often. */
const name = constantFrom(
  "a",
  "A",
  "plan",
  "Plan",
  "judge",
  "JUDGE",
  "workflow",
  "Workflow",
  "1",
  "x.y",
  "bad name",
  ".dot",
);
const entry = record({
  path: array(name, { minLength: 1, maxLength: 4 }),
  kind: constantFrom("file", "file", "file", "link"),
});
const step = constantFrom("judge", "plan_1/judge");
const key = array(constantFrom("a", "plan", "judge", "workflow", "1", "plan_1"), {
  minLength: 1,
  maxLength: 4,
});

/** A random tree under the root and, as often, under the own folder; what cannot be made beside the rest is left out. */
function randomFolder(
  stepPath: string,
  entries: readonly { path: readonly string[]; kind: string }[],
): ReturnType<typeof variablesFolder> {
  const folder = variablesFolder(stepPath);
  for (const [i, { path, kind }] of entries.entries()) {
    const full = join(i % 2 === 0 ? folder.root : folder.self, ...path);
    try {
      mkdirSync(dirname(full), { recursive: true });
      if (kind === "file") writeFileSync(full, `${String(i)}:${path.join("/")}`);
      else symlinkSync(folder.root, full);
    } catch {
      // A file and a folder of one name.
    }
  }
  return folder;
}

it("loads whatever keys lists, once, sorted, with its size (WV-13)", () => {
  assert(
    property(step, array(entry, { maxLength: 14 }), (stepPath, entries) => {
      using folder = randomFolder(stepPath, entries);
      const listed = listKeys(folder.env, "");
      const files = listed.map((one) => ({ ...one, text: loadValue(folder.env, one.key).text }));
      for (const { size, text } of files) expect(Buffer.byteLength(text)).toBe(size);
      // Every file's text is its own: the same one under two keys would be a variable listed twice.
      expect(new Set(files.map(({ text }) => text)).size).toBe(files.length);
      expect(listed.map((one) => one.key)).toEqual(
        listed.map((one) => one.key).toSorted(compareKeys),
      );
      const own = listKeys(folder.env).map((one) => one.key);
      expect(listed.map((one) => one.key)).toEqual(expect.arrayContaining(own));
    }),
    { numRuns: 150 },
  );
});

it("loads and lists what was saved, and changes nothing when it refuses (WV-13)", () => {
  assert(
    property(step, array(entry, { maxLength: 10 }), key, (stepPath, entries, segments) => {
      using folder = randomFolder(stepPath, entries);
      const before = folder.ownTree();
      const word = segments.join(".");
      const code = codeOf(() => saveValue(folder.env, word, Buffer.from("saved")));
      if (code === "ok") {
        expect(loadValue(folder.env, word).text).toBe("saved");
        expect(listKeys(folder.env, "").filter(({ size }) => size === 5).length).toBeGreaterThan(0);
      } else {
        expect(["outside_own_step", "invalid_key", "unsafe_path"]).toContain(code);
        expect(folder.ownTree()).toEqual(before);
      }
    }),
    { numRuns: 150 },
  );
});

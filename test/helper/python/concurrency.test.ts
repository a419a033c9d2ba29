import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { pythonKit } from "../../support/python-kit.ts";
import { variablesFolder, type VariablesFolder } from "../variables-folder.ts";

const kit = pythonKit();
afterAll(() => {
  kit[Symbol.dispose]();
});

/** Bytes of each value; one letter, so that a torn one shows. */
const size = 262_144;

function python(folder: VariablesFolder, script: string, ...argv: readonly string[]): ChildProcess {
  return spawn(kit.python, ["-c", script, ...argv], {
    env: { ...folder.env, PYTHONPATH: kit.folder },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

async function ended(child: ChildProcess): Promise<{ code: number | null; err: string }> {
  let err = "";
  child.stderr?.on("data", (chunk: Buffer) => (err += chunk.toString()));
  await once(child, "close");
  return { code: child.exitCode, err };
}

function isWhole(value: string): boolean {
  return value.length === size && value === value.charAt(0).repeat(size);
}

const writer = `
import sys
from variables import save
for _ in range(5):
    save("findings.verdict", sys.argv[1] * ${String(size)})
`;

const reader = `
from variables import load, VariablesError
seen = 0
while seen < 60:
    try:
        value = load("findings.verdict")
    except KeyError:
        continue
    assert len(value) == ${String(size)} and value == value[0] * len(value), "half a value"
    seen += 1
`;

describe("writers of one key in Python (WV-13)", () => {
  it("twenty leave one whole value, and a reader meets no half", async () => {
    using folder = variablesFolder();
    const letters = "abcdefghijklmnopqrst";
    const children = [
      python(folder, reader),
      ...Array.from(letters, (letter) => python(folder, writer, letter)),
    ];
    for (const one of await Promise.all(children.map(ended)))
      expect(one).toEqual({ code: 0, err: "" });
    expect(folder.ownTree()).toEqual(["findings/", "findings/VERDICT"]);
    const value = readFileSync(join(folder.self, "findings/VERDICT"), "utf8");
    expect(isWhole(value) && letters.includes(value.charAt(0))).toBe(true);
  });

  it("one that is killed leaves the old value or the new, and no other file that is visible", async () => {
    using folder = variablesFolder();
    const forever = `
from variables import save
while True:
    for letter in "xyz":
        save("v", letter * ${String(size)})
`;
    for (let round = 0; round < 12; round += 1) {
      const child = python(folder, forever);
      const over = ended(child);
      // Start-up takes some 30 ms; every round dies at another point of a save.
      await sleep(60 + 7 * round);
      child.kill("SIGKILL");
      await over;
      const visible = readdirSync(folder.self).filter((name) => !name.startsWith("."));
      expect(visible.every((name) => name === "V")).toBe(true);
      if (visible.length > 0)
        expect(isWhole(readFileSync(join(folder.self, "V"), "utf8"))).toBe(true);
    }
    expect(readdirSync(folder.self)).toContain("V");
  });

  it("one that cannot write to the end leaves the old value and no other file", () => {
    using folder = variablesFolder("judge", ["judge/V=old"]);
    const script = `
import resource
from variables import save, EnvironmentUnusableError
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    save("v", "x" * 2000)
except EnvironmentUnusableError as error:
    assert error.code == "io_error" and "(EFBIG)" in str(error), error
    save("v2", "small")
`;
    const { stderr } = spawnSync(kit.python, ["-c", script], {
      env: { ...folder.env, PYTHONPATH: kit.folder },
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(folder.ownTree()).toEqual(["V", "V2"]);
    expect(readFileSync(join(folder.self, "V"), "utf8")).toBe("old");
  });

  it("two that unite two spellings of a key do not both remove", async () => {
    for (let round = 0; round < 5; round += 1) {
      using folder = variablesFolder("judge", ["judge/VAR=1", "judge/var=2", "judge/Var=3"]);
      const script = `
import sys
from variables import save
save("var", sys.argv[1] * ${String(size)})
`;
      const pair = ["a", "b"].map((letter) => python(folder, script, letter));
      for (const one of await Promise.all(pair.map(ended)))
        expect(one).toEqual({ code: 0, err: "" });
      expect(folder.ownTree()).toEqual(["VAR"]);
      expect(isWhole(readFileSync(join(folder.self, "VAR"), "utf8"))).toBe(true);
    }
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { loadValue } from "../../helper/load.ts";
import { saveValue } from "../../helper/save.ts";
import { openDescriptors } from "./open-descriptors.ts";
import { codeOf } from "./code-of.ts";
import { variablesFolder } from "./variables-folder.ts";

const raceMs = 1500;

/** Runs a script in a child, in a loop without end, while `use` runs. It says a byte once it runs. */
async function against(
  script: string,
  env: Readonly<Record<string, string | undefined>>,
  use: () => void,
): Promise<void> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...env, PATH: process.env["PATH"] },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(child.stdout, "data");
    use();
    // An exit meanwhile is told only once this process waits.
    await setTimeout(50);
    expect(child.exitCode).toBeNull();
  } finally {
    child.kill("SIGKILL");
    await once(child, "close");
  }
}

it("shows a reader the old value or the new one, whole, while another process saves (WV-13)", async () => {
  using folder = variablesFolder("judge", ["judge/Report=0"]);
  const writer = `
    import { save } from "${join(process.cwd(), "helper/index.ts")}";
    const values = ["a".repeat(300_000), "b".repeat(100_000), "", "c"];
    save("report", "c");
    process.stdout.write("x");
    for (let i = 0; ; i += 1) save("report", values[i % 4]);`;
  await against(writer, folder.env, () => {
    const seen = new Set<string>();
    for (const end = Date.now() + raceMs; Date.now() < end;) {
      const { text } = loadValue(folder.env, "report");
      seen.add(`${text.slice(0, 1)}${String(text.length)}`);
      expect(text).toBe(text.slice(0, 1).repeat(text.length));
    }
    expect([...seen].toSorted()).toEqual(["0", "a300000", "b100000", "c1"]);
  });
  expect(folder.ownTree().filter((name) => !name.startsWith("."))).toEqual(["Report"]);
});

/**
 * A folder and a link to another step's change places under one name without end. In between there is neither, and a writer may make a
 * folder of its own there, which then has to go.
 */
const swapper = `
  import { renameSync, rmSync, symlinkSync } from "node:fs";
  const self = process.env.WORKFLOW_VARIABLES_SELF;
  const move = (from, to) => {
    for (;;) {
      try { return renameSync(self + from, self + to); } catch {}
      try { rmSync(self + to, { recursive: true, force: true }); } catch {}
    }
  };
  symlinkSync("../plan", self + "/.link");
  process.stdout.write("x");
  for (;;) {
    move("/f", "/.folder");
    move("/.link", "/f");
    move("/f", "/.link");
    move("/.folder", "/f");
  }`;

it("never reads or writes through a link swapped in after listing (WV-11)", async () => {
  using folder = variablesFolder("judge", ["judge/f/X=mine", "plan/X=theirs"]);
  const before = openDescriptors();
  await against(swapper, folder.env, () => {
    const codes = new Set<string>();
    for (const end = Date.now() + raceMs; Date.now() < end;) {
      codes.add(
        codeOf(() => {
          expect(loadValue(folder.env, "f.x").text).toBe("mine");
        }),
      );
      codes.add(codeOf(() => saveValue(folder.env, "f.x", Buffer.from("mine"))));
    }
    // Both were met: the race was one.
    expect(codes).toContain("ok");
    expect(codes).toContain("unsafe_path");
  });
  expect(loadValue(folder.env, "plan.x").text).toBe("theirs");
  expect(readdirSync(join(folder.root, "plan"))).toEqual(["X"]);
  expect(openDescriptors()).toBe(before);
});

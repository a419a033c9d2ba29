import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { checkStep } from "../../helper/check/check-step.ts";
import { listKeys } from "../../helper/keys.ts";
import { withStep } from "../../helper/step.ts";
import { variablesFolder } from "./variables-folder.ts";
import { runWfvar, wfvarKit } from "./wfvar-bundle.ts";

const kit = wfvarKit();
afterAll(() => {
  kit[Symbol.dispose]();
});

const size = 300_000;

it("leaves one whole value where twenty processes write one key at once (WV-13)", async () => {
  using folder = variablesFolder("judge", ["judge/Report=old", "judge/REPORT=older"]);
  const exits = Array.from({ length: 20 }, async (_, n) => {
    const child = spawn(process.execPath, [kit.bundle, "set", "-q", "report", "--stdin"], {
      env: folder.env,
      stdio: ["pipe", "ignore", "inherit"],
    });
    const exit = once(child, "exit");
    child.stdin.end(String.fromCharCode(0x61 + n).repeat(size));
    return exit;
  });
  for (const exit of await Promise.all(exits)) expect(exit).toEqual([0, null]);
  const [file = "", ...others] = folder.ownTree();
  expect(others).toEqual([]);
  const text = readFileSync(join(folder.self, file), "utf8");
  expect(text).toBe(text.slice(0, 1).repeat(size));
}, 60_000);

it("leaves the old value or the new one, whole, where a writer is killed at any moment (WV-13)", async () => {
  using folder = variablesFolder("judge", [`judge/REPORT=${"a".repeat(size)}`]);
  const writer = `
    import { save } from "${join(process.cwd(), "helper/index.ts")}";
    process.stdout.write("x");
    for (let i = 0; ; i += 1) save("report", "ab"[i % 2].repeat(${String(size)}));`;
  let leftBehind = 0;
  // Until some were killed halfway: when that is depends on the machine.
  for (let round = 0; round < 12 || (leftBehind === 0 && round < 100); round += 1) {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", writer], {
      env: { ...folder.env, PATH: process.env["PATH"] },
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    await setTimeout((round % 12) * 3 + Math.random());
    child.kill("SIGKILL");
    await once(child, "close");
    const text = readFileSync(join(folder.self, "REPORT"), "utf8");
    expect(text).toBe(text.slice(0, 1).repeat(size));
    expect(listKeys(folder.env)).toEqual([{ key: "report", size }]);
    leftBehind = readdirSync(folder.self).length - 1;
  }
  // What they left is no variable.
  expect(leftBehind).toBeGreaterThan(0);
  const { accepted, rejected } = withStep(folder.env, checkStep);
  expect([accepted, rejected]).toEqual([[{ key: "judge.report", size }], []]);
  expect(runWfvar(kit, ["set", "-q", "report", "new"], { env: folder.env }).status).toBe(0);
}, 60_000);

it("ends with the key gone or whole where some set and others unset it", async () => {
  using folder = variablesFolder();
  const run = async (...argv: string[]) => {
    const child = spawn(process.execPath, [kit.bundle, ...argv], {
      env: folder.env,
      stdio: "ignore",
    });
    const [code] = (await once(child, "exit")) as [number];
    return code;
  };
  const codes = await Promise.all(
    Array.from({ length: 16 }, (_, n) =>
      n % 2 === 0 ? run("set", "-q", "k", "x".repeat(1000)) : run("unset", "-q", "k"),
    ),
  );
  // Not found is what an unset says that came first.
  expect(codes.filter((_, n) => n % 2 === 0)).toEqual(Array.from({ length: 8 }, () => 0));
  for (const code of codes) expect([0, 1]).toContain(code);
  const tree = folder.ownTree();
  if (tree.length > 0) {
    expect(tree).toEqual(["K"]);
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe("x".repeat(1000));
  }
}, 60_000);

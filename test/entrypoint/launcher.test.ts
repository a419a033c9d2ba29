import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileAppears, makeStepFolder, readMarker, run, shell, start } from "./harness.ts";

const sources = join(import.meta.dirname, "../../entrypoint");
let kit = "";
let launcher = "";
let bundled: readonly string[] = [];

/** The kit as it is laid out in an image: bin/entrypoint and lib/entrypoint.cjs. */
beforeAll(async () => {
  kit = mkdtempSync(join(tmpdir(), "wfvar-kit-"));
  launcher = join(kit, "bin/entrypoint");
  mkdirSync(dirname(launcher));
  copyFileSync(join(sources, "bin/entrypoint"), launcher);
  chmodSync(launcher, 0o755);
  const { metafile } = await build({
    entryPoints: [join(sources, "main.ts")],
    outfile: join(kit, "lib/entrypoint.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node18",
    minifySyntax: true,
    metafile: true,
  });
  bundled = Object.keys(metafile.inputs);
});

afterAll(() => rmSync(kit, { recursive: true, force: true }));

/** Node as this test has it, and the shell's own tools. */
const path = `${dirname(process.execPath)}:/usr/bin:/bin`;

describe("the launcher (WV-15)", () => {
  it("runs the bundle on the Node of PATH and passes the exit code on", async () => {
    const step = makeStepFolder();
    const ended = await run(step, shell('printf "<%s>" "$0" "$@"; exit 42'), {
      launcher: [launcher],
      env: { PATH: path },
      args: ["--agent-grace", "1s", "--", ...shell('printf "<%s>" "$0" "$@"; exit 42'), "a b", ""],
    });
    expect(ended).toMatchObject({ code: 42, stdout: "<a b><>", stderr: "" });
    expect(readMarker(step)).toMatchObject({ exit_code: 42, outcome: "failed" });
  });

  it("puts the kit's commands behind the image's own on PATH, where wfvar is not there", async () => {
    const step = makeStepFolder();
    const ask = shell('printf "%s" "$PATH"');
    const without = await run(step, ask, { launcher: [launcher], env: { PATH: path } });
    expect(without.stdout).toBe(`${path}:${dirname(launcher)}`);
    const image = mkdtempSync(join(kit, "image-"));
    writeFileSync(join(image, "wfvar"), "#!/bin/sh\n", { mode: 0o755 });
    const own = `${image}:${path}`;
    const there = makeStepFolder();
    const ended = await run(there, ask, { launcher: [launcher], env: { PATH: own } });
    expect(ended.stdout).toBe(own);
  });

  it.each<[string, (folder: string) => string]>([
    ["an absolute link", () => launcher],
    [
      "a relative link to a link",
      (folder) => {
        symlinkSync(launcher, join(folder, "second"));
        return "second";
      },
    ],
  ])("finds its kit through %s", async (_, target) => {
    const step = makeStepFolder();
    const link = join(step.base, "entrypoint");
    symlinkSync(target(step.base), link);
    const ended = await run(step, shell("exit 3"), { launcher: [link], env: { PATH: path } });
    expect(ended).toMatchObject({ code: 3, stderr: "" });
  });

  it("prefers the kit's private Node", async () => {
    const step = makeStepFolder();
    const own = join(step.base, "kit");
    for (const folder of ["bin", "lib", "runtime"])
      mkdirSync(join(own, folder), { recursive: true });
    copyFileSync(launcher, join(own, "bin/entrypoint"));
    copyFileSync(join(kit, "lib/entrypoint.cjs"), join(own, "lib/entrypoint.cjs"));
    const node = join(own, "runtime/node");
    writeFileSync(node, `#!/bin/sh\necho private >&2\nexec "${process.execPath}" "$@"\n`);
    chmodSync(node, 0o755);
    const ended = await run(step, shell("exit 0"), { launcher: [join(own, "bin/entrypoint")] });
    expect(ended).toMatchObject({ code: 0, stderr: "private\n" });
  });

  it("puts an inherited NODE_OPTIONS aside, which would hang the step, and gives it to the agent", async () => {
    const step = makeStepFolder();
    const ended = await run(step, shell('printf "%s" "$NODE_OPTIONS"'), {
      launcher: [launcher],
      env: { PATH: path, NODE_OPTIONS: "--inspect-brk=0" },
    });
    expect(ended).toMatchObject({ code: 0, stdout: "--inspect-brk=0", stderr: "" });
  });

  it("is Node itself once it runs: signals need no shell to pass them on", async () => {
    const step = makeStepFolder();
    const agent = start(step, shell(`touch "${step.own}/READY"; exec sleep 30`), {
      launcher: [launcher],
      env: { PATH: path },
    });
    await fileAppears(join(step.own, "READY"));
    agent.kill("SIGTERM");
    expect((await agent.ended).code).toBe(143);
    expect(readMarker(step)).toMatchObject({ outcome: "terminated", signal: "SIGTERM" });
  });

  it.each<[string, string, (folder: string) => string]>([
    ["no Node anywhere", "no_runtime", () => launcher],
    [
      "no bundle beside it",
      "no_kit",
      (folder) => {
        const alone = join(folder, "bin/entrypoint");
        mkdirSync(dirname(alone));
        copyFileSync(launcher, alone);
        return alone;
      },
    ],
  ])("with %s it says so in one line and ends with 125", async (_, code, file) => {
    const step = makeStepFolder();
    const launch = ["/bin/sh", file(step.base)] as const;
    const ended = await run(step, shell("true"), { launcher: launch, env: { PATH: "/nowhere" } });
    expect(ended.code).toBe(125);
    expect(ended.stderr).toMatch(new RegExp(`^entrypoint: ${code}: [^\n]+\n$`));
    expect(existsSync(join(step.root, ".started"))).toBe(false);
  });

  it("bundles nothing but the entrypoint, the helper and the contract, zod's module excepted", () => {
    const strangers = bundled.filter(
      (file) => !/^(entrypoint|helper|contract)\/[a-z-]+\.ts$/.test(file),
    );
    expect(strangers).toEqual([]);
    expect(bundled).not.toContain("contract/wire.ts");
  });
});

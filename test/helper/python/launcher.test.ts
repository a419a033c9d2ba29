import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { version } from "../../../contract/version.ts";
import { pythonKit } from "../../support/python-kit.ts";
import { variablesFolder } from "../variables-folder.ts";
import { imageWithout } from "./image.ts";

const kit = pythonKit();
const image = imageWithout(kit);
afterAll(() => {
  image[Symbol.dispose]();
  kit[Symbol.dispose]();
});

type Env = Readonly<Record<string, string | undefined>>;

function launch(argv: readonly string[], env: Env = {}, options: { cwd?: string } = {}) {
  const { status, stdout, stderr } = spawnSync("wfvar", argv, {
    env: { PATH: image.path, ...env },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
  return { status, out: stdout, err: stderr };
}

describe("the launcher where there is Python and no Node", () => {
  it("runs the same command (WV-14)", () => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    expect(launch(["get", "k"], folder.env)).toEqual({ status: 0, out: "v", err: "" });
    expect(launch(["get", "nope"], folder.env).status).toBe(1);
    expect(launch(["set", "-q", "k", "a  b\n*"], folder.env).status).toBe(0);
    expect(launch(["get", "k"], folder.env).out).toBe("a  b\n*");
    expect(launch(["--version"]).out).toBe(`wfvar ${version}\n`);
  });

  it("says that the MCP server needs Node, and exits with 5", () => {
    const { status, err } = launch(["mcp"]);
    expect(status).toBe(5);
    expect(err).toMatch(/^wfvar: io_error: the MCP server needs Node\.js[^\n]+\n$/);
  });

  it("takes nothing from the agent's Python environment", () => {
    using folder = variablesFolder("judge", ["judge/K=v", ".evil/"]);
    const evil = join(folder.root, ".evil");
    const modules = ["os", "stat", "errno", "variables", "sitecustomize", "usercustomize", "time"];
    for (const name of modules) writeFileSync(join(evil, `${name}.py`), "raise SystemExit(42)\n");
    const env = {
      ...folder.env,
      PYTHONPATH: evil,
      PYTHONSTARTUP: join(evil, "os.py"),
      PYTHONHOME: evil,
      PYTHONINSPECT: "1",
      PYTHONWARNINGS: "error",
      PYTHONOPTIMIZE: "2",
      HOME: evil,
    };
    expect(launch(["get", "k"], env, { cwd: evil })).toEqual({ status: 0, out: "v", err: "" });
  });

  it("works in a folder that has been removed", () => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    const { stdout } = spawnSync(
      "/bin/sh",
      ["-c", 'mkdir "$0" && cd "$0" && rmdir "$0" && exec wfvar get k', join(folder.root, ".gone")],
      { env: { PATH: image.path, ...folder.env }, encoding: "utf8" },
    );
    expect(stdout).toBe("v");
  });

  it("exits with 5, not with 1 for not found, where the package is missing", () => {
    using folder = variablesFolder("judge", [".kit/bin/"]);
    const launcher = join(folder.root, ".kit/bin/wfvar");
    cpSync(kit.launcher, launcher);
    const { status, stderr } = spawnSync(launcher, ["get", "k"], {
      env: { PATH: image.path, ...folder.env },
      encoding: "utf8",
    });
    expect(status).toBe(5);
    expect(stderr).toMatch(/^wfvar: io_error: the kit is incomplete: variables[^\n]+\n$/);
  });

  it.each([
    ["is closed", "<&-"],
    ["is a folder", "</"],
  ])("refuses a stdin that %s, and works with it otherwise", (_name, direction) => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    const run = (command: string): readonly [number | null, string] => {
      const { status, stdout, stderr } = spawnSync("sh", ["-c", `${command} ${direction}`], {
        env: { PATH: image.path, ...folder.env },
        encoding: "utf8",
      });
      return [status, stdout + stderr];
    };
    const refused = "wfvar: usage: stdin is closed or a folder: see wfvar set --help\n";
    expect(run("wfvar set k --stdin")).toEqual([2, refused]);
    expect(run("wfvar get k")).toEqual([0, "v"]);
  });

  it("exits with 5 and one line where there is no Python either", () => {
    using empty = imageWithout(kit, { python: false });
    expect(launch(["get", "k"], { PATH: empty.path })).toEqual({
      status: 5,
      out: "",
      err: expect.stringMatching(/^wfvar: io_error: no Node\.js and no Python[^\n]+\n$/),
    });
  });

  it("takes Node before Python", () => {
    using both = imageWithout(kit);
    writeFileSync(join(both.path, "node"), "#!/bin/sh\necho node\n");
    chmodSync(join(both.path, "node"), 0o755);
    mkdirSync(join(kit.folder, "lib"));
    writeFileSync(join(kit.folder, "lib/wfvar.cjs"), "");
    try {
      expect(launch(["--version"], { PATH: both.path }).out).toBe("node\n");
    } finally {
      rmSync(join(kit.folder, "lib"), { recursive: true });
    }
  });

  it("finds its package through links in the kit's path", () => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    symlinkSync(kit.folder, join(folder.root, ".kit"));
    const { stdout } = spawnSync(join(folder.root, ".kit/bin/wfvar"), ["get", "k"], {
      env: { PATH: image.path, ...folder.env },
      encoding: "utf8",
    });
    expect(stdout).toBe("v");
  });
});

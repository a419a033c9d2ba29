import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { pythonKit } from "../../support/python-kit.ts";
import { variablesFolder } from "../variables-folder.ts";
import { imageWithout } from "./image.ts";

const kit = pythonKit();
const image = imageWithout(kit);
afterAll(() => {
  image[Symbol.dispose]();
  kit[Symbol.dispose]();
});

/** Runs a shell script that may call `wfvar`, which is Python's. */
function runScript(script: string, env: Readonly<Record<string, string | undefined>>) {
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", script], {
    env: { PATH: image.path, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { status, out: stdout.toString("latin1"), err: stderr.toString() };
}

const mebibyte = "x".repeat(1024 ** 2);

describe("wfvar in Python is exact with its streams (WV-14)", () => {
  it.each([
    ["an argument", "wfvar set k \"$(printf 'a\\377')\""],
    ["stdin", "printf 'a\\377' | wfvar set k --stdin"],
    ["a default", "wfvar get k --default \"$(printf 'a\\377')\""],
  ])("refuses %s that is not UTF-8", (_name, script) => {
    using folder = variablesFolder();
    for (const LC_ALL of ["C", "C.UTF-8", "POSIX"]) {
      const { status, out, err } = runScript(script, { ...folder.env, LC_ALL });
      expect({ status, out }).toEqual({ status: 2, out: "" });
      expect(err).toMatch(/^wfvar: invalid_value: [^\n]+\n$/);
      expect(folder.ownTree()).toEqual([]);
    }
  });

  it("takes an argument's bytes as they are in every locale", () => {
    using folder = variablesFolder();
    for (const LC_ALL of ["C", "C.UTF-8", "POSIX", "en_US.ISO-8859-1"]) {
      runScript("wfvar set -q k \"$(printf 'caf\\303\\251 \\360\\237\\246\\200')\"", {
        ...folder.env,
        LC_ALL,
      });
      expect(readFileSync(join(folder.self, "K"), "utf8")).toBe("café 🦀");
    }
  });

  it("names a file whose name is not UTF-8", () => {
    using folder = variablesFolder();
    const script =
      'f="$WORKFLOW_VARIABLES_ROOT/.$(printf "\\377")"; printf v > "$f"; wfvar set -q k --file "$f"';
    expect(runScript(script, folder.env)).toEqual({ status: 0, out: "", err: "" });
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe("v");
  });

  it("is quiet when the reader has gone", () => {
    using folder = variablesFolder("judge", [`judge/K=${mebibyte}`]);
    const script = "{ wfvar get k; echo $? >&2; } | head -c 1 >/dev/null";
    expect(runScript(script, folder.env).err).toBe("0\n");
  });

  it("loses no byte into a pipe that is set not to block and is read late", () => {
    using folder = variablesFolder("judge", [`judge/K=${mebibyte}`]);
    const script =
      "{ dd oflag=nonblock count=0 </dev/null 2>/dev/null && wfvar get k; } | { sleep 0.5; wc -c; }";
    const { out, err } = runScript(script, folder.env);
    expect({ count: Number(out), err }).toEqual({ count: 1024 ** 2, err: "" });
  });

  it("waits on a stdin that is set not to block", () => {
    using folder = variablesFolder();
    const script =
      "{ sleep 0.5; printf late; } | { dd iflag=nonblock count=0 >/dev/null 2>&1 && wfvar set -q k --stdin; }";
    expect(runScript(script, folder.env)).toEqual({ status: 0, out: "", err: "" });
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe("late");
  });

  it("stops reading stdin at the limit", () => {
    using folder = variablesFolder("judge", [], { max_value_bytes: 10 });
    expect(runScript("wfvar set k --stdin </dev/zero", folder.env).status).toBe(3);
  });

  it("exits with 5 where the bytes cannot be written to stdout", () => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    const full = openSync("/dev/full", "w");
    const { status } = spawnSync(kit.python, ["-ISE", kit.main, "get", "k"], {
      env: folder.env,
      stdio: ["ignore", full, "ignore"],
    });
    closeSync(full);
    expect(status).toBe(5);
  });

  it("writes a value nowhere else where stdout, stderr or stdin is closed", () => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    expect(runScript("wfvar get k >&-", folder.env)).toEqual({ status: 0, out: "", err: "" });
    expect(runScript("wfvar set k w 2>&-", folder.env)).toEqual({ status: 0, out: "", err: "" });
    expect(runScript("wfvar get k <&- >&- 2>&-", folder.env).status).toBe(0);
    expect(folder.ownTree()).toEqual(["K"]);
  });

  it("refuses a stdin that is closed", () => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    expect(runScript("wfvar set k --stdin <&-", folder.env)).toEqual({
      status: 2,
      out: "",
      err: "wfvar: usage: stdin is closed or a folder: see wfvar set --help\n",
    });
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe("v");
  });

  it("says that stdout took nothing, and minds no stderr that is full", () => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    expect(runScript("wfvar get k >/dev/full", folder.env)).toEqual({
      status: 5,
      out: "",
      err: "wfvar: io_error: stdout did not take all of the output (ENOSPC): direct it elsewhere\n",
    });
    expect(runScript("wfvar set k w 2>/dev/full", folder.env).status).toBe(0);
    expect(runScript("wfvar get nope 2>/dev/full", folder.env).status).toBe(1);
  });

  it("dies of an interrupt as other commands do, and leaves nothing", async () => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    const child = spawn(kit.python, ["-ISE", kit.main, "set", "k", "--stdin"], {
      env: folder.env,
      stdio: ["pipe", "ignore", "pipe"],
    });
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    // The first byte is read only once the command waits for more.
    child.stdin.write("half");
    await new Promise((resolve) => setTimeout(resolve, 500));
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([null, "SIGINT"]);
    expect(err).toBe("");
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe("v");
    expect(folder.ownTree()).toEqual(["K"]);
  });

  it("never says a value, whichever word it came in by", () => {
    using folder = variablesFolder("judge", ["plan/X=1"], { max_value_bytes: 4 });
    const commandLines = [
      "set k s3cret",
      "set plan.x s3cret",
      "set k=s3cret",
      "set k a s3cret",
      "set --s3cret k",
      "set 's3cret!' k",
      "set k --file /s3cret",
      "set k --file /dev/s3cret",
      "s3cret",
      "get nope s3cret",
      "list --s3cret",
      "list --s3cret=s3cret",
      "unset s3cret! k",
    ];
    for (const line of commandLines) {
      const { status, err } = runScript(`wfvar ${line}`, folder.env);
      expect(status, line).not.toBe(0);
      expect(err).toMatch(/^wfvar: [^\n]+\n$/);
      expect(err).not.toContain("s3cret");
    }
  });
});

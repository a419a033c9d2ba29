import { spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { version } from "../../contract/version.ts";
import { unprivileged } from "./unprivileged.ts";
import { variablesFolder } from "./variables-folder.ts";
import { runWfvar, wfvarKit, type RunOptions } from "./wfvar-bundle.ts";

const kit = wfvarKit();
afterAll(() => {
  kit[Symbol.dispose]();
});

interface Answer {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function wfvar(argv: readonly string[], options: RunOptions = {}): Answer {
  const { status, stdout, stderr } = runWfvar(kit, argv, options);
  return { status, out: stdout.toString(), err: stderr.toString() };
}

/** Runs a shell script that may call `wfvar_get` and `wfvar_set`. */
function runScript(
  script: string,
  env: Readonly<Record<string, string | undefined>>,
  argv: readonly string[] = ["sh"],
): SpawnSyncReturns<Buffer> {
  const functions = `wfvar_get() { "${process.execPath}" "${kit.bundle}" get "$@"; }; wfvar_set() { "${process.execPath}" "${kit.bundle}" set "$@"; };`;
  return spawnSync("/bin/sh", ["-c", `${functions} ${script}`, ...argv], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

describe("exit codes and their one line (WV-14)", () => {
  it.each([
    [["get", "verdict"], 0, ""],
    [["get", "nope"], 1, "not_found"],
    [["get", "a..b"], 2, "invalid_key"],
    [["get", "twice"], 2, "ambiguous_key"],
    [["get", "latin1"], 2, "invalid_value"],
    [["get", "large"], 3, "value_too_large"],
    [["get", "link"], 5, "unsafe_path"],
    [["set", "-q", "k", "v"], 0, ""],
    [["set", "a..b", "v"], 2, "invalid_key"],
    [["set", "k", "x".repeat(65)], 3, "value_too_large"],
    [["set", "workflow.x", "v"], 4, "outside_own_step"],
    [["set", "plan.x", "v"], 4, "outside_own_step"],
    [["set", "link", "v"], 5, "unsafe_path"],
    [["list"], 0, ""],
    [["path"], 0, ""],
    [[], 2, "usage"],
    [["nope"], 2, "usage"],
    [["get"], 2, "usage"],
    [["get", "a", "b"], 2, "usage"],
    [["get", "a", "--default"], 2, "usage"],
    [["get", "a", "--nope"], 2, "usage"],
    [["set"], 2, "usage"],
    [["set", "k"], 2, "usage"],
    [["set", "k", "a", "b"], 2, "usage"],
    [["set", "k", "a", "--nope"], 2, "usage"],
    [["set", "k", "a", "--stdin"], 2, "usage"],
    [["set", "k", "--file", "f", "--stdin"], 2, "usage"],
    [["set", "k", "--file"], 2, "usage"],
    [["set", "k=v"], 2, "usage"],
    [["set", "--nope", "k"], 2, "usage"],
    [["list", "a", "b"], 2, "usage"],
    [["list", "--nope"], 2, "usage"],
    [["list", "--all", "--all"], 2, "usage"],
    [["path", "a"], 2, "usage"],
    [["--version", "a"], 2, "usage"],
  ] as const)("%j exits with %i %s", (argv, status, code) => {
    using folder = variablesFolder(
      "judge",
      [
        "judge/VERDICT=CLEAN",
        "judge/Twice=1",
        "judge/twice=2",
        "judge/link -> VERDICT",
        "plan/X=1",
        `judge/LARGE=${"x".repeat(65)}`,
      ],
      { max_value_bytes: 64 },
    );
    writeFileSync(join(folder.self, "LATIN1"), Buffer.from([0xe9]));
    const answer = wfvar(argv, { env: folder.env });
    expect(answer.status).toBe(status);
    if (code === "") expect(answer.err).toBe("");
    else expect(answer.err).toMatch(new RegExp(`^wfvar: ${code}: [^\\n]+\\n$`));
    if (status !== 0) expect(answer.out).toBe("");
  });

  it("exits with 5 where there is no /variables", () => {
    expect(wfvar(["get", "k"], { env: { WORKFLOW_VARIABLES_ROOT: "/nonexistent" } })).toMatchObject(
      { status: 5, err: expect.stringContaining("no_variables") },
    );
  });

  it("works beside a folder and a file that this user may not open, and exits with 5 for what is in them", () => {
    using folder = variablesFolder("judge", [
      "judge/closed/X=1",
      "judge/names/X=1",
      "judge/K=1",
      "judge/OK=1",
    ]);
    const options = { env: folder.env, ...unprivileged(kit, folder.root) };
    chmodSync(join(folder.self, "closed"), 0);
    chmodSync(join(folder.self, "names"), 0o444);
    chmodSync(join(folder.self, "K"), 0);
    expect(wfvar(["list"], options)).toEqual({ status: 0, out: "k\nok\n", err: "" });
    expect(wfvar(["set", "-q", "new", "v"], options)).toEqual({ status: 0, out: "", err: "" });
    expect(wfvar(["get", "new"], options).out).toBe("v");
    expect(wfvar(["get", "closed.x"], options)).toMatchObject({
      status: 5,
      err: expect.stringContaining("unsafe_path"),
    });
    expect(wfvar(["set", "closed.x", "v"], options)).toMatchObject({
      status: 5,
      err: expect.stringContaining("unsafe_path"),
    });
    for (const key of ["k", "names.x"]) {
      expect(wfvar(["get", key], options)).toMatchObject({
        status: 5,
        err: expect.stringContaining("io_error"),
      });
    }
    chmodSync(join(folder.self, "closed"), 0o755);
    chmodSync(join(folder.self, "names"), 0o755);
  });

  it("exits with 5 where the bytes cannot be written to stdout", async () => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    const full = openSync("/dev/full", "w");
    const child = spawn(process.execPath, [kit.bundle, "get", "k"], {
      env: folder.env,
      stdio: ["ignore", full, "pipe"],
    });
    closeSync(full);
    const [err, exit] = await Promise.all([
      child.stderr === null ? "" : textOf(child.stderr),
      once(child, "exit"),
    ]);
    expect(exit).toEqual([5, null]);
    expect(err).toBe(
      "wfvar: io_error: stdout did not take all of the output (ENOSPC): direct it elsewhere\n",
    );
  });

  it("never says a value, whichever word it came in by", () => {
    using folder = variablesFolder("judge", ["plan/X=1"], { max_value_bytes: 4 });
    const commandLines = [
      ["set", "k", "s3cret"],
      ["set", "plan.x", "s3cret"],
      ["set", "k=s3cret"],
      ["set", "k", "a", "s3cret"],
      ["set", "--s3cret", "k"],
      ["set", "s3cret!", "k"],
      ["set", "k", "--file", "/s3cret"],
      ["set", "k", "--file", "/dev/s3cret"],
      ["set", "k", "a", "--s3cret"],
      ["s3cret"],
      ["get", "nope", "s3cret"],
      ["list", "--s3cret"],
    ];
    for (const argv of commandLines) {
      const { status, err } = wfvar(argv, { env: folder.env });
      expect(status, argv.join(" ")).not.toBe(0);
      expect(err).not.toContain("s3cret");
    }
  });
});

const texts: readonly (readonly [string, string])[] = [
  ["empty", ""],
  ["no trailing newline", "CLEAN"],
  ["trailing newlines", "CLEAN\n\n"],
  ["CRLF", "a\r\nb\r\n"],
  ["NUL", "a\0b"],
  ["four-byte UTF-8", "🦀"],
  ["a byte order mark", "\uFEFFx"],
  ["1 MiB", "0123456789abcde\n".repeat(65_536)],
];

describe("bytes go in and come out exactly (WV-4, WV-14)", () => {
  it.each(texts)("%s through --stdin and get", (_name, text) => {
    using folder = variablesFolder();
    expect(wfvar(["set", "k", "--stdin"], { env: folder.env, input: text })).toMatchObject({
      status: 0,
      out: "",
    });
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe(text);
    expect(wfvar(["get", "k"], { env: folder.env })).toEqual({ status: 0, out: text, err: "" });
  });

  it.each(texts)("%s through --file", (_name, text) => {
    using folder = variablesFolder();
    const file = join(folder.root, ".input");
    writeFileSync(file, text);
    expect(wfvar(["set", "k", "--file", file], { env: folder.env }).status).toBe(0);
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe(text);
  });

  it.each([
    [["k", "--"], "--"],
    [["k", "--", "--stdin"], "--stdin"],
    [["k", "--", "--"], "--"],
    [["--", "k", "-q"], "-q"],
    [["k", "--stdin=x"], "--stdin=x"],
    [["k", "--help"], "--help"],
    [["k", "-----BEGIN KEY-----"], "-----BEGIN KEY-----"],
    [["k", ""], ""],
    [["k", "-1"], "-1"],
    [["k", "a b\nc$(d)`e`"], "a b\nc$(d)`e`"],
    [["k", "\uFFFD"], "\uFFFD"],
  ] as const)("set %j stores %j", (argv, text) => {
    using folder = variablesFolder();
    const { status } = wfvar(["set", ...argv], { env: folder.env });
    if (argv.length === 2 && argv[1] === "--") expect(status).toBe(2);
    else expect(readFileSync(join(folder.self, "K"), "utf8")).toBe(text);
  });

  it.each([
    ["an argument", "wfvar_set k \"$(printf 'a\\377')\""],
    ["stdin", "printf 'a\\377' | wfvar_set k --stdin"],
    ["a default", "wfvar_get k --default \"$(printf 'a\\377')\""],
  ])(
    "refuses %s that is not UTF-8, and stores no replacement character for it",
    (_name, script) => {
      using folder = variablesFolder();
      const { status, stdout } = runScript(script, folder.env);
      expect(status).toBe(2);
      expect(stdout.length).toBe(0);
      expect(folder.ownTree()).toEqual([]);
    },
  );

  it("prints the default where the key is absent, and only then", () => {
    using folder = variablesFolder("judge", ["judge/E="]);
    expect(wfvar(["get", "nope", "--default", "--x é"], { env: folder.env })).toEqual({
      status: 0,
      out: "--x é",
      err: "",
    });
    expect(wfvar(["get", "e", "--default", "x"], { env: folder.env })).toEqual({
      status: 0,
      out: "",
      err: "",
    });
    expect(wfvar(["get", "a..b", "--default", "x"], { env: folder.env }).status).toBe(2);
  });

  // `dd` sets the flag on the pipe itself, as a parent that shares it may; libuv would clear it.
  it("loses no byte into a pipe that is set not to block and is read late", () => {
    using folder = variablesFolder("judge", [`judge/K=${"x".repeat(1024 ** 2)}`]);
    const script =
      "{ dd oflag=nonblock count=0 </dev/null 2>/dev/null && wfvar_get k; } | { sleep 0.5; wc -c; }";
    const { stdout, stderr } = runScript(script, folder.env);
    expect({ count: Number(stdout.toString()), err: stderr.toString() }).toEqual({
      count: 1024 ** 2,
      err: "",
    });
  });

  it("waits on a stdin that is set not to block", () => {
    using folder = variablesFolder();
    const script =
      "{ sleep 0.5; printf late; } | { dd iflag=nonblock count=0 >/dev/null 2>&1 && wfvar_set -q k --stdin; }";
    const { status, stderr } = runScript(script, folder.env);
    expect({ status, err: stderr.toString() }).toEqual({ status: 0, err: "" });
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe("late");
  });

  it("is quiet when the reader has gone", () => {
    using folder = variablesFolder("judge", [`judge/K=${"x".repeat(1024 ** 2)}`]);
    const { status, stderr } = runScript("wfvar_get k | head -c 1 >/dev/null", folder.env);
    expect({ status, err: stderr.toString() }).toEqual({ status: 0, err: "" });
  });
});

describe("set says what it did (WV-14)", () => {
  it.each([
    [["k", "CLEAN"], "judge.k: 5 bytes\n"],
    [["Findings.HIGH", "é"], "judge.findings.high: 2 bytes\n"],
    [["k", "x"], "judge.k: 1 byte\n"],
    [["-q", "k", "x"], ""],
    [["k", "x", "-q"], ""],
  ])("%j: %j", (argv, err) => {
    using folder = variablesFolder();
    expect(wfvar(["set", ...argv], { env: folder.env })).toEqual({ status: 0, out: "", err });
  });

  it.each([
    ["a\\!", 1],
    ["a\\nb", 1],
    ["a\\nb\\!", 2],
    ["--file=x", 1],
    ["a\\nb\n", 0],
    ["a!", 0],
  ])("warns of the marks of a mangled argument: %j", (text, warnings) => {
    using folder = variablesFolder();
    const { status, err } = wfvar(["set", "-q", "k", text], { env: folder.env });
    expect(status).toBe(0);
    expect(err.match(/^wfvar: warning: judge\.k /gm) ?? []).toHaveLength(warnings);
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe(text);
  });

  it("hints at --stdin where data waits there, and does not wait for its end", async () => {
    using folder = variablesFolder();
    const child = spawn(process.execPath, [kit.bundle, "set", "k"], {
      env: folder.env,
      stdio: ["pipe", "ignore", "pipe"],
    });
    let err = "";
    for await (const chunk of child.stderr) err += String(chunk);
    expect(err).toContain("add --stdin");
    child.stdin.destroy();
    expect(wfvar(["set", "k"], { env: folder.env }).err).not.toContain("add --stdin");
  });

  it.each([
    ["does not exist", (root: string) => join(root, ".nothing")],
    ["is a folder", (root: string) => root],
    ["is a FIFO", (root: string) => join(root, ".fifo")],
    ["is a device", () => "/dev/zero"],
    ["is empty text", () => ""],
  ])("refuses a --file that %s, as usage", (_name, fileIn) => {
    using folder = variablesFolder("judge", [".fifo |"]);
    expect(wfvar(["set", "k", "--file", fileIn(folder.root)], { env: folder.env })).toMatchObject({
      status: 2,
      err: expect.stringMatching(/^wfvar: usage: [^\n]*--file/),
    });
  });

  it.each([
    ["is closed", "<&-"],
    ["is a folder", "</"],
  ])("refuses a stdin that %s, and works with it otherwise", (_name, direction) => {
    using folder = variablesFolder("judge", ["judge/K=v"]);
    const run = (command: string): readonly [number | null, string] => {
      const { status, stdout, stderr } = spawnSync(
        "sh",
        ["-c", `"$0" ${command} ${direction}`, kit.launcher],
        {
          env: { PATH: process.env["PATH"], ...folder.env },
          encoding: "utf8",
        },
      );
      return [status, stdout + stderr];
    };
    const refused = "wfvar: usage: stdin is closed or a folder: see wfvar set --help\n";
    expect(run("set k --stdin")).toEqual([2, refused]);
    expect(run("get k")).toEqual([0, "v"]);
  });

  it("minds no stderr that is full", () => {
    using folder = variablesFolder();
    expect(runScript("wfvar_set k v 2>/dev/full", folder.env).status).toBe(0);
    expect(runScript("wfvar_get nope 2>/dev/full", folder.env).status).toBe(1);
  });

  it("stops reading stdin at the limit", () => {
    using folder = variablesFolder("judge", [], { max_value_bytes: 10 });
    expect(runScript("wfvar_set k --stdin </dev/zero", folder.env).status).toBe(3);
  });
});

describe("list, path, help, version (WV-14)", () => {
  const tree = [
    "judge/VERDICT=CLEAN",
    "judge/Findings/HIGH=é",
    "plan/SUMMARY=s",
    "workflow/item.title=t",
  ];

  it.each([
    [["list"], "findings.high\nverdict\n"],
    [["list", "plan."], "plan.summary\n"],
    [["list", "--all"], "findings.high\nplan.summary\nverdict\nworkflow.item.title\n"],
    [["list", "nothing"], ""],
    [["list", "nothing", "--json"], "[]\n"],
    [["list", "--json"], '[{"key":"findings.high","size":2},{"key":"verdict","size":5}]\n'],
  ])("%j", (argv, out) => {
    using folder = variablesFolder("judge", tree);
    expect(wfvar(argv, { env: folder.env })).toEqual({ status: 0, out, err: "" });
  });

  it("path prints the own folder", () => {
    using folder = variablesFolder("review-loop_2/judge");
    expect(wfvar(["path"], { env: folder.env }).out).toBe(`${folder.self}\n`);
  });

  it.each([
    ["--help"],
    ["get", "--help"],
    ["set", "--help"],
    ["list", "--help"],
    ["path", "--help"],
    ["unset", "--help"],
    ["check", "--help"],
    ["brief", "--help"],
  ])("%s %s helps without a /variables", (...argv) => {
    const { status, out, err } = wfvar(argv, { env: { WORKFLOW_VARIABLES_ROOT: "/nonexistent" } });
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toMatch(/^Usage: wfvar /);
  });

  it("--version is the contract's", () => {
    expect(wfvar(["--version"]).out).toBe(`wfvar ${version}\n`);
  });
});

/** Runs the launcher as a shell would. */
function launch(
  file: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Answer {
  const { status, stdout, stderr } = runScript('exec "$0" "$@"', env, [file, ...argv]);
  return { status, out: stdout.toString(), err: stderr.toString() };
}

describe("the launcher", () => {
  it("finds its kit through links, absolute and relative, with blanks in their names", () => {
    using folder = variablesFolder("judge", ["judge/K=v", ".bin/", ".more bin/"]);
    symlinkSync(kit.launcher, join(folder.root, ".bin/wfvar"));
    symlinkSync("../.bin/wfvar", join(folder.root, ".more bin/wf var"));
    for (const file of [
      kit.launcher,
      join(folder.root, ".bin/wfvar"),
      join(folder.root, ".more bin/wf var"),
    ]) {
      expect(launch(file, ["get", "k"], folder.env)).toEqual({ status: 0, out: "v", err: "" });
    }
  });

  it("passes arguments on as they are, and the exit code back", () => {
    using folder = variablesFolder();
    expect(launch(kit.launcher, ["set", "-q", "k", "a  b\n*"], folder.env).status).toBe(0);
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe("a  b\n*");
    expect(launch(kit.launcher, ["get", "nope"], folder.env).status).toBe(1);
  });

  it("is not hung or changed by the agent's NODE_OPTIONS", () => {
    expect(launch(kit.launcher, ["--version"], { NODE_OPTIONS: "--no-such-option" })).toMatchObject(
      { status: 0, err: "" },
    );
  });

  it("takes the kit's own Node before the one on PATH", () => {
    mkdirSync(join(kit.folder, "runtime"));
    writeFileSync(join(kit.folder, "runtime/node"), "#!/bin/sh\necho private\n");
    chmodSync(join(kit.folder, "runtime/node"), 0o755);
    try {
      expect(launch(kit.launcher, ["--version"], {}).out).toBe("private\n");
    } finally {
      rmSync(join(kit.folder, "runtime"), { recursive: true });
    }
  });

  it("exits with 5 and one line where there is no Node", () => {
    expect(launch(kit.launcher, ["--version"], { PATH: "/nonexistent" })).toEqual({
      status: 5,
      out: "",
      err: expect.stringMatching(/^wfvar: io_error: [^\n]+\n$/),
    });
  });

  it("exits with 5, not with 1 for not found, where the bundle is missing", () => {
    using folder = variablesFolder("judge", [".kit/bin/"]);
    const launcher = join(folder.root, ".kit/bin/wfvar");
    writeFileSync(launcher, readFileSync(kit.launcher));
    chmodSync(launcher, 0o755);
    expect(launch(launcher, ["get", "k"], folder.env)).toMatchObject({ status: 5, out: "" });
  });
});

it("ships nothing but the helper, the contract without zod, and node: built-ins", () => {
  const outputs = Object.values(kit.metafile.outputs);
  expect(outputs).toHaveLength(3);
  for (const { inputs, imports, bytes } of outputs) {
    for (const path of Object.keys(inputs)) expect(path).toMatch(/^(helper|contract)\/(?!wire)/);
    for (const { path } of imports) expect(path).toMatch(/^node:/);
    expect(bytes).toBeGreaterThan(0);
  }
});

it("is at most 40 KiB for what agents call again and again", () => {
  expect(statSync(kit.bundle).size).toBeLessThanOrEqual(40 * 1024);
});

it.each([["check"], ["brief"]])("wfvar %s exits with 5 where its bundle is missing", (name) => {
  using folder = variablesFolder("judge", [".kit/"]);
  const bundle = join(folder.root, ".kit/wfvar.cjs");
  writeFileSync(bundle, readFileSync(kit.bundle));
  const { status, stderr } = spawnSync(process.execPath, [bundle, name], { env: folder.env });
  expect({ status, err: stderr.toString() }).toEqual({
    status: 5,
    err: `wfvar: io_error: the kit is incomplete: lib/${name}.cjs is missing beside lib/wfvar.cjs\n`,
  });
});

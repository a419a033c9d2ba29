import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { dist } from "../support/dist.ts";
import { tempFolder } from "../support/temp-folder.ts";

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function wfvarCp(argv: readonly string[], { cwd = tempFolder() } = {}) {
  const child = spawn(process.execPath, [join(dist, "controlplane", "main.mjs"), ...argv], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const end = new Promise<Finished>((done) =>
    child.once("close", (code) => done({ code, stdout, stderr })),
  );
  return { child, end, output: () => stdout };
}

function workflow(body: string, name = "test.dot"): string {
  const file = join(tempFolder(), name);
  writeFileSync(file, `digraph test { start [shape=Mdiamond] done [shape=Msquare] ${body} }`);
  return file;
}

const review = resolve("examples/review.dot");

function childrenOf(pid: number | undefined): string[] {
  const { stdout } = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  return stdout.split("\n").filter(Boolean);
}

/** Empty where there is no such process any more. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

describe("wfvar-cp run", () => {
  it("runs the example over a real tree and shows every value", async () => {
    const repo = tempFolder();
    mkdirSync(join(repo, "src"));
    writeFileSync(join(repo, "src/a.ts"), "// TODO: one\nexport {};\n");
    const cwd = tempFolder();
    const { code, stdout, stderr } = await wfvarCp(["run", review, "--input", `repo=${repo}`], {
      cwd,
    }).end;
    expect(stderr).toBe("");
    expect(code).toBe(0);
    for (const [key, setBy] of [
      ["inspect.findings", "inspect"],
      ["inspect.summary", "inspect"],
      ["judge.verdict", "judge"],
      ["report.report", "report"],
      ["workflow.inputs.repo", "input"],
    ]) {
      expect(stdout).toMatch(new RegExp(`^${String(key)}\\s+${String(setBy)}\\s+\\d`, "m"));
    }
    expect(stdout).toMatch(/^judge\.verdict\s+judge\s+6 bytes\s+revise$/m);
    expect(stdout).toMatch(/^succeeded in \d+\.\ds\n$/m);
    expect(readdirSync(join(cwd, ".wfvar/steps"))).toEqual([]);
  });

  it("measures the current folder where no input is given", async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, "file.txt"), "one\ntwo\n");
    const { code, stdout } = await wfvarCp(["run", review], { cwd }).end;
    expect(code).toBe(0);
    expect(stdout).toMatch(/inspect\.summary.*1 files, 2 lines, 8 bytes/);
  });

  it("ends in one clear line and exit 1 for a folder that is not there", async () => {
    const { code, stderr } = await wfvarCp(["run", review, "--input", "repo=/no/such/folder"]).end;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^failed after \S+: inspect: .*\/no\/such\/folder is not a folder; choose one with --input repo=PATH.*\n$/,
    );
  });

  it("gives a step what its direct dependencies wrote, and nothing else", async () => {
    const file = workflow(`
      a [shape=parallelogram, script="wfvar set x 1"]
      b [shape=parallelogram, script="wfvar set y 2; wfvar get a.x"]
      c [shape=parallelogram, script="wfvar get b.y && ! wfvar get a.x"]
      start -> a -> b -> c -> done`);
    expect(await wfvarCp(["run", file]).end).toMatchObject({ code: 0 });
  });

  it("stops at a step that fails, and keeps its folder and its values", async () => {
    const file = workflow(`
      a [shape=parallelogram, script="wfvar set x 1; echo too bad; exit 3"]
      b [shape=parallelogram, script="true"]
      start -> a -> b -> done`);
    const cwd = tempFolder();
    const { code, stdout, stderr } = await wfvarCp(["run", file], { cwd }).end;
    expect(code).toBe(1);
    expect(stdout).toMatch(/^a\.x\s+a\s+1 byte\s+1$/m);
    expect(stdout).not.toMatch(/ b +started/);
    const [, folder] = /exit 3\): too bad \(its folder: (\S+)\)/.exec(stderr) ?? [];
    expect(existsSync(join(folder ?? "", "variables/a/X"))).toBe(true);
  });

  it("names what was rejected", async () => {
    const file = workflow(
      `a [shape=parallelogram, script="wfvar set x 1; echo 1 > $WORKFLOW_VARIABLES_SELF/report.md"] start -> a -> done`,
    );
    const { code, stdout } = await wfvarCp(["run", file]).end;
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /sidecar rejected report\.md: invalid_output_key: names are letters, digits.*: rename it\n/,
    );
  });

  it("succeeds without a step to run", async () => {
    const { code, stderr } = await wfvarCp(["run", workflow("start -> done")]).end;
    expect([code, stderr]).toEqual([0, ""]);
  });

  it("hands over the agent's output escaped, line by line", async () => {
    const file = workflow(
      `a [shape=parallelogram, script="printf '\\\\033[31mred\\\\033[0m\\\\n'"] start -> a -> done`,
    );
    const { stdout } = await wfvarCp(["run", file]).end;
    expect(stdout).toContain("| \\x1b[31mred\\x1b[0m");
  });

  it("says what the agent said last, and not that a value was stored", async () => {
    const file = workflow(
      `a [shape=parallelogram, script="echo oops >&2; wfvar set x 1; wfvar set y 1; wfvar unset y; exit 3"] start -> a -> done`,
    );
    const { stderr } = await wfvarCp(["run", file]).end;
    expect(stderr).toMatch(/^failed after \S+: a: the agent failed \(exit 3\): oops \(/);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("delivers what there is when it is told to stop by %s", async (signal, exitCode) => {
    const file = workflow(
      `a [shape=parallelogram, script="wfvar set x 1; echo waiting; sleep 60"] start -> a -> done`,
    );
    const running = wfvarCp(["run", file]);
    await expect.poll(running.output, { timeout: 10_000 }).toContain("| waiting");
    running.child.kill(signal);
    const { code, stdout, stderr } = await running.end;
    expect(code).toBe(exitCode);
    expect(stdout).toMatch(/^a\.x\s+a\s+1 byte\s+1$/m);
    expect(stderr).toMatch(/^interrupted after \S+ in step a \(its folder: \S+\)\n$/);
  });

  it("keeps what earlier runs stored", async () => {
    const cwd = tempFolder();
    const file = workflow(`a [shape=parallelogram, script="wfvar set x 1"] start -> a -> done`);
    const first = await wfvarCp(["run", file], { cwd }).end;
    const second = await wfvarCp(["run", file], { cwd }).end;
    expect([first.code, second.code]).toEqual([0, 0]);
  });

  it.each<{ name: string; argv: string[]; code: number; stderr: RegExp }>([
    { name: "no file", argv: ["run"], code: 2, stderr: /^wfvar-cp: name the workflow's DOT file/ },
    {
      name: "a file that is not there",
      argv: ["run", "/nope.dot"],
      code: 2,
      stderr: /^wfvar-cp: the workflow: \/nope\.dot cannot be read: it does not exist\n$/,
    },
    {
      name: "an unknown flag",
      argv: ["run", review, "--nope"],
      code: 2,
      stderr: /^wfvar-cp: unknown flag --nope\n$/,
    },
    {
      name: "a misspelt --input, and takes its value for no file",
      argv: ["run", review, "--inptu", "repo=a"],
      code: 2,
      stderr: /^wfvar-cp: unknown flag --inptu \(did you mean `--input`\?\)\n$/,
    },
    {
      name: "a limit that the run's own id is over",
      argv: ["run", review, "--max-value-bytes", "10"],
      code: 2,
      stderr:
        /^wfvar-cp: invalid_request: run-id: the value has 22 bytes; the limit max_value_bytes \(--max-value-bytes\) is 10: [^\n]+\n$/,
    },
    {
      name: "an unknown input",
      argv: ["run", review, "--input", "rep=x"],
      code: 2,
      stderr: /did you mean `repo`/,
    },
    {
      name: "an input twice",
      argv: ["run", review, "--input", "repo=a", "--input", "repo=b"],
      code: 2,
      stderr: /given twice/,
    },
    {
      name: "an input file that is not there",
      argv: ["run", review, "--input", "repo=@/nope"],
      code: 2,
      stderr: /`repo`: \/nope cannot be read: it does not exist/,
    },
    {
      name: "an unknown subcommand",
      argv: ["nope"],
      code: 2,
      stderr: /^wfvar-cp: unknown subcommand nope/,
    },
  ])("says what is wrong with $name", async ({ argv, code, stderr }) => {
    const finished = await wfvarCp(argv).end;
    expect(finished.code).toBe(code);
    expect(finished.stderr).toMatch(stderr);
    expect(finished.stderr).not.toMatch(/\n\s+at /);
  });

  it("says in one line that its data folder cannot be used, or that an input is too large", async () => {
    const file = join(tempFolder(), "file");
    writeFileSync(file, "x".repeat(2 * 1024 ** 2));
    const folder = await wfvarCp(["run", review, "--data-dir", join(file, "sub")]).end;
    expect([folder.code, folder.stderr]).toEqual([
      2,
      `wfvar-cp: the data folder ${join(file, "sub")} cannot be used: a part of its path is not a folder\n`,
    ]);
    const input = await wfvarCp(["run", review, "--input", `repo=@${file}`]).end;
    expect(input.code).toBe(2);
    expect(input.stderr).toMatch(
      /^wfvar-cp: invalid_request: the input `repo`: the value has 2097152 bytes; the limit max_value_bytes \(--max-value-bytes\) is 1048576: shorten the value, or raise the limit\n$/,
    );
  });

  it("says at once that a data folder cannot be made where the file system has none to give", async () => {
    const { end } = wfvarCp(["run", review, "--data-dir", "/proc/self/nope/data"]);
    const { code, stderr } = await end;
    expect([code, stderr]).toEqual([
      2,
      "wfvar-cp: the data folder /proc/self/nope/data cannot be used: it does not exist\n",
    ]);
  });

  it("leaves no process behind where it is killed outright", async () => {
    const pids = join(tempFolder(), "pids");
    const file = workflow(
      `a [shape=parallelogram, script="echo $PPID $$ > ${pids}; echo ready; sleep 60"] start -> a -> done`,
    );
    const { child, end, output } = wfvarCp(["run", file]);
    await expect.poll(output, { timeout: 20_000 }).toContain("| ready");
    const sidecar = childrenOf(child.pid).filter((pid) => commandOf(pid).endsWith("pack"));
    expect(sidecar).toHaveLength(1);
    const started = [...sidecar, ...readFileSync(pids, "utf8").trim().split(" ")];
    child.kill("SIGKILL");
    await end;
    const left = (): string[] => started.filter((pid) => commandOf(pid) !== "");
    await expect.poll(left, { timeout: 45_000 }).toEqual([]);
  }, 90_000);

  it("ends its steps in order when nobody reads any more", async () => {
    const file = workflow(
      'chatty [shape=parallelogram script="while echo line; do sleep 0.01; done"] start -> chatty -> done',
    );
    const { child, end, output } = wfvarCp(["run", file]);
    await expect.poll(output).toMatch(/line/);
    child.stdout.destroy();
    const { code, stderr } = await end;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^stopped after \S+ in step chatty: nobody reads the output any more \(/,
    );
    // The step's shell was ended before its runner.
    expect(spawnSync("pgrep", ["-f", "while echo line; do sleep 0.01"]).status).toBe(1);
  });

  it("refuses an invalid workflow with every finding, before anything runs", async () => {
    const cwd = tempFolder();
    const file = workflow(
      `a [shape=parallelogram] b [shape=box, prompt=hi] start -> a -> b -> done`,
    );
    const { code, stderr } = await wfvarCp(["run", file], { cwd }).end;
    expect(code).toBe(1);
    expect(stderr).toMatch(/test\.dot:1:\d+: error missing_script/);
    expect(stderr).toMatch(/test\.dot:1:\d+: error not_supported/);
    expect(existsSync(join(cwd, ".wfvar"))).toBe(false);
  });
});

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { version } from "../../contract/version.ts";
import { explainLaunch } from "../../entrypoint/launch-problem.ts";
import { isAlive, mainFile, makeStepFolder, readMarker, run, shell, until } from "./harness.ts";

describe("the agent's exit (WV-15)", () => {
  it.each([0, 1, 2, 42, 125, 126, 127, 128, 200, 255])("exit %i is passed on", async (code) => {
    const step = makeStepFolder();
    const ended = await run(step, shell(`exit ${String(code)}`));
    expect(ended).toMatchObject({ code, signal: null, stderr: "" });
    expect(readMarker(step)).toMatchObject({
      outcome: code === 0 ? "succeeded" : "failed",
      exit_code: code,
      signal: null,
      finalize: { status: "none", failed: [] },
      kit: version,
    });
  });

  it.each(["SIGKILL", "SIGSEGV", "SIGABRT", "SIGTERM", "SIGHUP", "SIGUSR2"] as const)(
    "death by %s becomes 128 + n, and is no termination: none came from outside",
    async (signal) => {
      const step = makeStepFolder();
      const ended = await run(step, shell(`kill -${signal.slice(3)} $$`));
      const code = 128 + constants.signals[signal];
      expect(ended).toMatchObject({ code, signal: null });
      expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: code, signal });
    },
  );

  it("gives the agent stdin's end, stdout, stderr and every argument unchanged", async () => {
    const step = makeStepFolder();
    const script = 'printf "<%s>" "$@"; echo problem >&2; cat';
    const args = ["", "--", "--help", "a b", "\n", "$HOME", "\\!"];
    const ended = await run(step, [...shell(script), "sh", ...args]);
    expect(ended.stdout).toBe(args.map((arg) => `<${arg}>`).join(""));
    expect(ended.stderr).toBe("problem\n");
  });

  it("gives the agent umask 022, whatever it was, and a session of its own", async () => {
    const step = makeStepFolder();
    const closed = ["sh", "-c", 'umask 077; exec "$@"', "sh", process.execPath, mainFile] as const;
    const script = shell("umask; echo $$; ps -o sid= -o pgid= -p $$");
    const { stdout } = await run(step, script, { launcher: closed });
    const [umask, pid, session = ""] = stdout.trim().split("\n");
    expect(umask).toBe("0022");
    expect(session.trim().split(/\s+/)).toEqual([pid, pid]);
  });

  it("says in the marker when the step began and ended", async () => {
    const step = makeStepFolder();
    const before = Date.now();
    await run(step, shell("sleep 0.3"));
    const { started_at, finished_at } = readMarker(step);
    expect(Date.parse(started_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(finished_at) - Date.parse(started_at)).toBeGreaterThanOrEqual(300);
    expect(Date.parse(finished_at)).toBeLessThanOrEqual(Date.now());
  });
});

describe("a command that cannot be started (WV-15; argo-workflows#6238: the waiter hangs)", () => {
  it.each<[string, number, string, (base: string) => string]>([
    ["a name nowhere on PATH", 127, "command_not_found", () => "no-such-command-anywhere"],
    ["an empty name", 127, "command_not_found", () => ""],
    ["a path to nothing", 127, "command_not_found", (base) => join(base, "nothing")],
    [
      "a path through a file",
      127,
      "command_not_found",
      (base) => `${makeFile(join(base, "file"), "", 0o644)}/agent`,
    ],
    ["a folder", 126, "command_not_runnable", (base) => base],
    [
      "a file without its x bit",
      126,
      "command_not_runnable",
      (base) => makeFile(join(base, "agent"), "#!/bin/sh\n", 0o644),
    ],
    [
      "a script whose interpreter is missing",
      126,
      "command_not_runnable",
      (base) => makeFile(join(base, "agent"), "#!/no/such/interpreter\n", 0o755),
    ],
    [
      "a script whose interpreter is a folder",
      126,
      "command_not_runnable",
      (base) => makeFile(join(base, "agent"), `#!${base}\n`, 0o755),
    ],
    [
      "a script whose interpreter lies below a file",
      126,
      "command_not_runnable",
      (base) => makeFile(join(base, "agent"), "#!/etc/passwd/sh\n", 0o755),
    ],
  ])("%s ends with %i, one line and a marker", async (_, code, errorCode, makeCommand) => {
    const step = makeStepFolder();
    const ended = await run(step, [makeCommand(step.base)]);
    expect(ended).toMatchObject({ code, signal: null });
    expect(ended.stderr).toMatch(new RegExp(`^entrypoint: ${errorCode}: [^\n]+\n$`));
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: code, signal: null });
  });

  it.each<[string, number, (folder: string) => unknown]>([
    [
      "a script with a missing interpreter",
      126,
      (folder) => makeFile(join(folder, "agent"), "#!/no/such/interpreter\n", 0o755),
    ],
    ["a file without its x bit", 126, (folder) => makeFile(join(folder, "agent"), "", 0o644)],
    ["a folder of that name", 127, (folder) => mkdirSync(join(folder, "agent"))],
  ])("looks a bare name up on PATH: %s ends with %i", async (_, code, fill) => {
    const step = makeStepFolder();
    const folder = join(step.base, "bin");
    mkdirSync(folder);
    fill(folder);
    const ended = await run(step, ["agent"], { env: { PATH: `/nowhere:${folder}` } });
    expect(ended.code).toBe(code);
    expect(readMarker(step).exit_code).toBe(code);
  });

  it.each([
    ["EAGAIN", 125, "agent_not_started"],
    ["ENOMEM", 125, "agent_not_started"],
    ["EMFILE", 125, "agent_not_started"],
    ["ENOEXEC", 126, "command_not_runnable"],
    ["E2BIG", 126, "command_not_runnable"],
    ["ETXTBSY", 126, "command_not_runnable"],
  ])("%s from exec is %i", (errno, exitCode, code) => {
    const cause = Object.assign(new Error("spawn"), { code: errno });
    expect(explainLaunch("/bin/sh", "/bin", cause)).toMatchObject({ exitCode, problem: { code } });
  });
});

describe("the entrypoint's own failure (WV-15)", () => {
  it("a fault that nothing catches kills the agent, leaves a marker and ends with 125", async () => {
    const step = makeStepFolder();
    const file = join(step.own, "PID");
    const agent = `echo $$ > "${file}_"; mv "${file}_" "${file}"; exec sleep 30`;
    const ended = await run(step, shell(agent), {
      preload: "fault-later.ts",
      env: { TEST_FILE: file },
    });
    expect(ended.code).toBe(125);
    expect(ended.stderr).toBe("entrypoint: internal_error: a fault from nowhere\n");
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 125 });
    const pid = Number(readFileSync(file, "utf8"));
    expect(pid).toBeGreaterThan(1);
    // SIGKILL was sent; the kernel needs a moment.
    await until(() => !isAlive(pid), 1000);
  });
});

function makeFile(path: string, text: string, mode: number): string {
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  fileAppears,
  mainFile,
  makeStepFolder,
  readMarker,
  run,
  shell,
  type StartOptions,
  start,
  type StepFolder,
  writeHook,
} from "./harness.ts";

const capture = { env: { WFVAR_CAPTURE_RESPONSE: "true" } };

function value(step: StepFolder, name: string): string {
  return readFileSync(join(step.own, name), "utf8");
}

/** Runs the entrypoint inside a shell script that says `"$@"` where it goes. */
function within(script: string, env: Readonly<Record<string, string>> = {}): StartOptions {
  const launcher = ["sh", "-c", script, "sh", process.execPath, mainFile] as const;
  return { launcher, env: { ...capture.env, ...env } };
}

describe("--capture-response (WV-15)", () => {
  it("passes both outputs on and keeps them as variables", async () => {
    const step = makeStepFolder();
    const script = "echo said; echo grumbled >&2; exit 4";
    const { code, stdout, stderr } = await run(step, shell(script), capture);
    expect([code, stdout, stderr]).toEqual([4, "said\n", "grumbled\n"]);
    expect([value(step, "RESPONSE"), value(step, "FAILURE")]).toEqual(["said\n", "grumbled\n"]);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 4 });
    expect(readdirSync(step.root).toSorted()).toEqual([".done", ".self", ".started", "judge"]);
  });

  it("takes the flag too; saves an empty RESPONSE, but no FAILURE where nothing was complained of", async () => {
    const step = makeStepFolder();
    await run(step, [], { args: ["--capture-response", "--", "true"] });
    expect(value(step, "RESPONSE")).toBe("");
    expect(existsSync(join(step.own, "FAILURE"))).toBe(false);
  });

  it("keeps what an agent said that closes its pipes and goes on", async () => {
    const step = makeStepFolder();
    const script = `echo said; echo grumbled >&2; exec >&- 2>&-; echo late > "${step.own}/LATE"; exit 3`;
    const { code, stdout, stderr } = await run(step, shell(script), capture);
    expect([code, stdout, stderr]).toEqual([3, "said\n", "grumbled\n"]);
    expect([value(step, "RESPONSE"), value(step, "FAILURE"), value(step, "LATE")]).toEqual([
      "said\n",
      "grumbled\n",
      "late\n",
    ]);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 3 });
  });

  it("without it, nothing is saved", async () => {
    const step = makeStepFolder();
    await run(step, shell("echo said"));
    expect(readdirSync(step.own)).toEqual([]);
  });

  it("passes on as it comes: what was printed is there before the agent's end", async () => {
    const step = makeStepFolder();
    const agent = start(
      step,
      shell(`printf half; until [ -e "${step.own}/.go" ]; do sleep 0.02; done`),
      capture,
    );
    const { stdout } = agent.child;
    await new Promise((resolve) => stdout?.once("data", resolve));
    writeFileSync(join(step.own, ".go"), "");
    expect((await agent.ended).stdout).toBe("half");
  });

  it("lets the agent write to /dev/stdout and /dev/stderr by name", async () => {
    const step = makeStepFolder();
    const script = "echo one > /dev/stdout; echo two >> /dev/stdout; echo three > /dev/stderr";
    const { stdout, stderr } = await run(step, shell(script), capture);
    expect([stdout, stderr]).toEqual(["one\ntwo\n", "three\n"]);
    expect(value(step, "RESPONSE")).toBe("one\ntwo\n");
  });

  it("does without mkfifo", async () => {
    const step = makeStepFolder();
    const env = { ...capture.env, PATH: "/nowhere" };
    const { stdout, stderr } = await run(step, ["/bin/sh", "-c", "echo said; echo so >&2"], {
      env,
    });
    expect([stdout, stderr]).toEqual(["said\n", "so\n"]);
    expect([value(step, "RESPONSE"), value(step, "FAILURE")]).toEqual(["said\n", "so\n"]);
  });

  it("keeps the tail within the value limit of `.step`, and stderr's last 4 KiB", async () => {
    const step = makeStepFolder();
    const limits = { max_value_bytes: 5000 };
    writeFileSync(join(step.root, ".step"), JSON.stringify({ limits }));
    const { stdout } = await run(step, shell("seq 1 2000; seq 1 5000 >&2"), capture);
    expect(stdout.endsWith("1999\n2000\n")).toBe(true);
    expect(value(step, "RESPONSE")).toBe(stdout.slice(-5000));
    expect(value(step, "FAILURE")).toHaveLength(4096);
    expect(value(step, "FAILURE").endsWith("4999\n5000\n")).toBe(true);
  });

  it("passes bytes on as they are, and saves valid UTF-8", async () => {
    const step = makeStepFolder();
    const file = join(step.base, "out");
    const script = "printf 'a\\377b\\000c'";
    await run(step, shell(script), within('exec "$@" > "$FILE"', { FILE: file }));
    expect(readFileSync(file)).toEqual(Buffer.from("61ff620063", "hex"));
    expect(value(step, "RESPONSE")).toBe("a\ufffdb\0c");
  });

  it("gives the agent none of its settings", async () => {
    const step = makeStepFolder();
    expect((await run(step, shell("env | grep -c ^WFVAR_"), capture)).stdout).toBe("0\n");
  });
});

describe("the leaf of a response (WV-13, WV-15)", () => {
  it.each([
    ["one in another spelling", ["response"]],
    ["two that make the key ambiguous", ["RESPONSE", "Response"]],
  ])("replaces what the agent wrote under that name: %s", async (_, names) => {
    const step = makeStepFolder();
    const writes = names.map((name) => `echo mine > "${step.own}/${name}"`).join(";");
    await run(step, shell(`${writes}; echo said`), capture);
    const [left = "", ...others] = readdirSync(step.own);
    expect([left.toLowerCase(), others]).toEqual(["response", []]);
    expect(value(step, left)).toBe("said\n");
  });

  it("is saved before the hooks, which may read it, and its mode lets every uid", async () => {
    const step = makeStepFolder();
    writeHook(
      step,
      "look",
      `cat "${step.own}/RESPONSE" >&2; stat -c %a "${step.own}/RESPONSE" >&2`,
    );
    expect((await run(step, shell("echo said"), capture)).stderr).toBe("said\n644\n");
  });

  it.each<[string, (step: StepFolder) => string]>([
    ["a link", ({ base, own }) => `ln -s "${base}/outside" "${own}/RESPONSE"`],
    ["a folder's link", ({ base, own }) => `rmdir "${own}"; ln -s "${base}" "${own}"`],
  ])(
    "%s in its way is not written through; one line says so, and the step ends well",
    async (_, make) => {
      const step = makeStepFolder();
      writeFileSync(join(step.base, "outside"), "untouched");
      const ended = await run(step, shell(`${make(step)}; echo said`), capture);
      expect(ended.code).toBe(0);
      expect(ended.stderr).toMatch(
        /^entrypoint: warning: the agent's response could not be saved: [^\n]+\n/,
      );
      expect(readFileSync(join(step.base, "outside"), "utf8")).toBe("untouched");
      expect(existsSync(join(step.base, "RESPONSE"))).toBe(false);
      expect(readMarker(step)).toMatchObject({ outcome: "succeeded" });
    },
  );

  it("is the own one, also where steps named `response` and `failure` are seen", async () => {
    const step = makeStepFolder();
    for (const name of ["response", "failure"]) mkdirSync(join(step.root, name));
    const { stderr } = await run(step, shell("echo said; echo so >&2"), capture);
    expect(stderr).toBe("so\n");
    expect([value(step, "RESPONSE"), value(step, "FAILURE")]).toEqual(["said\n", "so\n"]);
  });

  it("is in the step's folder of its iteration, in a loop", async () => {
    const step = makeStepFolder();
    const own = join(step.root, "review-loop_2", "judge");
    mkdirSync(own, { recursive: true });
    const env = { ...capture.env, WORKFLOW_VARIABLES_SELF: own };
    await run(step, shell("echo said"), { env });
    expect(readFileSync(join(own, "RESPONSE"), "utf8")).toBe("said\n");
  });

  it.each([
    ["could not be started", ["/no/such/command"], {}, 127],
    [
      "was not started after TERM",
      ["true"],
      { preload: "signal-after-handlers.ts", env: { ...capture.env, TEST_SIGNAL: "SIGTERM" } },
      143,
    ],
  ])("is absent, not empty, where the agent %s", async (_, command, options, code) => {
    const step = makeStepFolder();
    expect((await run(step, command, { ...capture, ...options })).code).toBe(code);
    expect(readdirSync(step.own)).toEqual([]);
    expect(readMarker(step)).toMatchObject({ exit_code: code });
  });
});

describe("what the captured output goes to (WV-15)", () => {
  it("a pipe", async () => {
    const step = makeStepFolder();
    const ended = await run(step, shell("seq 1 50000"), within('"$@" | cat'));
    expect(ended.stdout.split("\n")).toHaveLength(50_001);
    expect(value(step, "RESPONSE")).toBe(ended.stdout);
  });

  it.runIf(process.getuid?.() === 0)(
    "a pipe of another uid, which cannot be reopened",
    async () => {
      const step = makeStepFolder();
      chmodSync(step.base, 0o777);
      chmodSync(step.root, 0o777);
      const script = 'setpriv --reuid 65534 --regid 65534 --clear-groups "$@" | cat';
      const ended = await run(step, shell("id -u; seq 1 50000"), within(script));
      expect(ended.stdout.startsWith("65534\n1\n2\n")).toBe(true);
      expect(ended.stdout.endsWith("\n50000\n")).toBe(true);
      expect(value(step, "RESPONSE")).toBe(ended.stdout);
    },
  );

  it("a file, which is gone on with, not written over, and stays open for the hooks", async () => {
    const step = makeStepFolder();
    writeHook(step, "prints", "echo hook");
    const file = join(step.base, "log");
    const script = 'exec > "$FILE" 2>&1; echo before; "$@"; echo after';
    await run(step, shell("echo said"), within(script, { FILE: file }));
    expect(readFileSync(file, "utf8")).toBe("before\nsaid\nhook\nafter\n");
  });

  it("nothing", async () => {
    const step = makeStepFolder();
    await run(step, shell("echo said"), within('exec "$@" > /dev/null'));
    expect(value(step, "RESPONSE")).toBe("said\n");
  });

  it("nowhere: an agent whose reader is gone gets the same SIGPIPE as without us", async () => {
    const step = makeStepFolder();
    await run(step, shell("sleep 0.2; exec yes"), within('"$@" | true'));
    expect(readMarker(step)).toMatchObject({ exit_code: 141, signal: "SIGPIPE" });
    expect(value(step, "RESPONSE")).toMatch(/^(y\n)+$/);
  });

  it.runIf(existsSync("/dev/full"))(
    "a full disk: the agent goes on, and its tail is kept",
    async () => {
      const step = makeStepFolder();
      const agent = shell("seq 1 50000; echo end");
      expect((await run(step, agent, within('exec "$@" > /dev/full'))).code).toBe(0);
      expect(value(step, "RESPONSE").endsWith("\n50000\nend\n")).toBe(true);
    },
  );

  it("a reader that reads only after the step: the whole tail is kept, and the marker does not wait", async () => {
    const step = makeStepFolder();
    const script = '"$@" | { until [ -e "$DONE" ]; do sleep 0.05; done; cat >/dev/null; }';
    // More than our pipe and the reader's hold; the rest stands in the agent's when it ends.
    const agent = shell("head -c 150000 /dev/zero | tr '\\0' x; printf end");
    await run(step, agent, within(script, { DONE: join(step.root, ".done") }));
    expect(value(step, "RESPONSE")).toBe(`${"x".repeat(150_000)}end`);
    expect(readMarker(step)).toMatchObject({ outcome: "succeeded" });
  });

  it.each([
    ["pipe", '"$@" | { until [ -e "$DONE" ]; do sleep 0.05; done; }'],
    ["socket", 'exec "$@"'],
  ])(
    "a %s that nobody reads: the agent waits, TERM ends it, and the step ends",
    async (_, script) => {
      const step = makeStepFolder();
      const pid = join(step.own, ".pid");
      const options = within(script, { DONE: join(step.root, ".done") });
      const agent = start(step, shell(`echo $PPID > "${pid}"; exec yes`), options);
      agent.child.stdout?.removeAllListeners("data").pause();
      await fileAppears(pid);
      // Time enough to fill every buffer on the way.
      await sleep(600);
      process.kill(Number(readFileSync(pid, "utf8")), "SIGTERM");
      await fileAppears(join(step.root, ".done"));
      // The reader ends at the marker, which goes with the folder after the test.
      await agent.ended;
      expect(readMarker(step)).toMatchObject({ outcome: "terminated", signal: "SIGTERM" });
      expect(value(step, "RESPONSE")).toMatch(/^(y\n)+$/);
    },
  );
});

describe("an output that does not end (WV-15; argo-workflows#6375: a background child keeps the step alive)", () => {
  /** The agent goes on once the daemon has left its group. */
  function daemon({ own }: StepFolder): string {
    return `(exec setsid sh -c 'touch "${own}/.left"; sleep 4; echo late') & until [ -e "${own}/.left" ]; do sleep 0.02; done; echo said`;
  }

  it("is waited for one second, where a daemon left the group with it", async () => {
    const step = makeStepFolder();
    const { started_at, finished_at } = await run(step, shell(daemon(step)), capture).then(() =>
      readMarker(step),
    );
    const ms = Date.parse(finished_at) - Date.parse(started_at);
    expect(ms).toBeGreaterThanOrEqual(1000);
    expect(ms).toBeLessThan(3500);
    expect(value(step, "RESPONSE")).toBe("said\n");
  });

  it("is waited for no longer than the grace has left, after TERM", async () => {
    const step = makeStepFolder();
    const ready = join(step.own, ".ready");
    const script = `${daemon(step)}; trap '' TERM; touch "${ready}"; while :; do sleep 0.05; done`;
    const env = { ...capture.env, WFVAR_AGENT_GRACE: "300ms" };
    const agent = start(step, shell(script), { env });
    await fileAppears(ready);
    const sent = performance.now();
    agent.kill("SIGTERM");
    await fileAppears(join(step.root, ".done"));
    expect(performance.now() - sent).toBeLessThan(1200);
    expect(value(step, "RESPONSE")).toBe("said\n");
  });
});

import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { conformanceCommand } from "../../../controlplane/cli/conformance-command.ts";
import { UsageError } from "../../../controlplane/cli/usage-error.ts";
import { allChecks } from "../../../controlplane/conformance/all-checks.ts";
import { commandFixture } from "../../../controlplane/conformance/command-fixture.ts";
import { parseFreshStep } from "../../../controlplane/conformance/fixture.ts";
import type { CheckResult } from "../../../controlplane/conformance/run-checks.ts";
import { startControlPlane } from "../../support/control-plane.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const env = { PATH: process.env["PATH"] };
const { signal } = new AbortController();

/** Runs the command in this process; gives what it printed, or the problems it found. */
async function conformance(
  argv: readonly string[],
  options: { signal?: AbortSignal } = {},
): Promise<{ passed: boolean; lines: string[] } | { problems: readonly string[] }> {
  const out = new PassThrough();
  const printed = text(out);
  try {
    const deps = { env, out, signal, ...options };
    const passed = await conformanceCommand(argv, deps);
    out.end();
    return { passed, lines: (await printed).trimEnd().split("\n") };
  } catch (error) {
    out.end();
    if (!(error instanceof UsageError)) throw error;
    return { problems: error.problems };
  }
}

const answer = (members: object): string =>
  `echo '${JSON.stringify({ url: "http://127.0.0.1:1", run: "r", step: "s", attempt: 1, token: "t", ...members })}'`;

describe("the smallest fixture: plain steps, one file each", () => {
  it("lets everything else be skipped, with the reason, and passes", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const folder = join(tempFolder(), "steps");
    mkdirSync(folder);
    const count = allChecks.length + 20;
    const stamping = Array.from({ length: count }, async (_, index) => {
      const name = `s${String(index).padStart(3, "0")}`;
      const { step, attempt, token } = await cp.stamp(run, { step: name });
      const json = JSON.stringify({ url: cp.stepUrl, run, step, attempt, token });
      writeFileSync(join(folder, name), json);
    });
    await Promise.all(stamping);
    const take = `f=$(ls ${folder} | head -n 1); cat ${folder}/$f; rm ${folder}/$f`;
    const fixture = `case $WFVAR_FIXTURE_KIND in step) ${take};; *) echo '{"skip":"not built"}';; esac`;
    const result = await conformance(["--fixture", fixture, "--json"]);
    if (!("lines" in result)) throw new Error(JSON.stringify(result));
    const [counts, ...lines] = result.lines.toReversed();
    const results = lines.map((line) => JSON.parse(line) as CheckResult);
    expect(results.filter((each) => each.result === "fail")).toEqual([]);
    expect(result.passed).toBe(true);
    expect(new Set(results.flatMap(({ detail }) => (detail === "" ? [] : [detail])))).toEqual(
      new Set([
        ...["next", "retry", "loop"].map((kind) => `the fixture gives no \`${kind}\`: not built`),
        "the fixture does not give `outputs`",
        "the fixture does not give `outputs` with a required one",
        "the fixture does not give `visible`",
      ]),
    );
    const skip = results.filter((each) => each.result === "skip").length;
    expect(JSON.parse(counts ?? "")).toEqual({ ok: allChecks.length - skip, fail: 0, skip });
  }, 120_000);
});

describe("a fixture", () => {
  it("is told the kind, and where to start from", async () => {
    const command = `printf '{"skip":"%s %s %s"}' "$WFVAR_FIXTURE_KIND" "$WFVAR_FIXTURE_RUN" "$WFVAR_FIXTURE_STEP"`;
    const fixture = commandFixture({ command, env, allowHttp: false, signal });
    expect(await fixture.stamp("step")).toEqual({ skip: "step  " });
    const origin = { run: "r-1", step: "loop_2.judge", attempt: 1 };
    expect(await fixture.stamp("iterate", origin)).toEqual({ skip: "iterate r-1 loop_2.judge" });
  });

  it.each<{ name: string; command: string; problem: string | RegExp }>([
    {
      name: "that fails",
      command: "echo one >&2; echo 'no database' >&2; exit 3",
      problem: "the fixture failed for `step`: exit code 3: no database",
    },
    {
      name: "that is not there",
      command: "exec /nowhere/fixture",
      problem: /^the fixture failed for `step`: exit code 127: /,
    },
    {
      name: "that prints nonsense",
      command: "echo stamped",
      problem: "the fixture did not print one JSON object for `step`",
    },
    {
      name: "that prints two objects",
      command: "echo '{}'; echo '{}'",
      problem: "the fixture did not print one JSON object for `step`",
    },
    {
      name: "that gives no token",
      command: answer({ token: undefined }),
      problem: /^the fixture's answer is not valid: token: /,
    },
    {
      name: "that gives a token with a blank",
      command: answer({ token: "sec ret" }),
      problem: "the fixture's answer is not valid: token: printable ASCII without blanks",
    },
    {
      name: "that gives no step path",
      command: answer({ step: "1" }),
      problem: /^the fixture's answer is not valid: step: a step path/,
    },
    {
      name: "that gives a limit that is none",
      command: answer({ limits: { max_value_bytes: 0 } }),
      problem: /^the fixture's answer is not valid: limits.max_value_bytes: /,
    },
    {
      name: "whose url is none",
      command: answer({ url: "ftp://127.0.0.1" }),
      problem: "the fixture's url is no http:// or https:// URL",
    },
    {
      name: "whose url would show the token to the network",
      command: answer({ url: "http://cp.example" }),
      problem: "the fixture's url must be https:// beyond loopback; see --allow-http",
    },
    {
      name: "that has no plain step",
      command: `echo '{"skip":"not\\u001b built"}'`,
      problem: "the fixture gives no `step`: not\\x1b built",
    },
    {
      name: "that gives a loop's step for a plain one",
      command: answer({ step: "fix_1.judge" }),
      problem: "the fixture gives no `step`: it answered with another kind of step",
    },
    {
      name: "that gives one attempt again and again",
      command: answer({}),
      problem: "the fixture gave one attempt twice; each call must stamp a fresh one",
    },
  ])("$name ends the suite with one line", async ({ command, problem }) => {
    const result = await conformance(["--fixture", command]);
    expect(result).toEqual({
      problems: [typeof problem === "string" ? problem : expect.stringMatching(problem)],
    });
    expect(JSON.stringify(result)).not.toContain("sec ret");
  });

  it("is ended with all that it started when its time is over", async () => {
    const file = join(tempFolder(), "pid");
    // It holds the pipes open after the shell is gone.
    const command = `sleep 1000 & echo $! > ${file}; wait`;
    const fixture = commandFixture({ command, env, allowHttp: false, signal, timeoutMs: 500 });
    await expect(fixture.stamp("step")).rejects.toThrow(
      "the fixture failed for `step`: it took more than 0.5 s",
    );
    await vi.waitUntil(() => !isRunning(readFileSync(file, "utf8").trim()));
  });

  it("may be beyond loopback over plain HTTP where that is allowed", () => {
    const step = { url: "http://cp.example/base", run: "r", step: "s", attempt: 1, token: "t" };
    expect(parseFreshStep(step, { allowHttp: true })).toMatchObject({
      url: new URL("http://cp.example/base"),
    });
  });
});

describe("the command line", () => {
  it.each<{ name: string; argv: readonly string[]; problem: string | RegExp }>([
    { name: "neither fixture nor URL", argv: [], problem: /^give either --fixture CMD or/ },
    {
      name: "fixture and URL",
      argv: ["--fixture", "true", "--against", "http://127.0.0.1:1"],
      problem: /^give either --fixture CMD or/,
    },
    { name: "a word", argv: ["--fixture", "true", "x"], problem: "conformance takes flags only" },
    {
      name: "an unknown flag",
      argv: ["--fixtur", "true"],
      problem: "unknown flag --fixtur (did you mean `--fixture`?)",
    },
    {
      name: "a URL that is none",
      argv: ["--against", "127.0.0.1:8411"],
      problem: /^--against must be an http:\/\/ or https:\/\/ URL/,
    },
    {
      name: "a URL that would show tokens to the network",
      argv: ["--against", "http://cp.example"],
      problem: "both URLs must be https:// beyond loopback, or set --allow-http",
    },
    {
      name: "an operator token that is not there",
      argv: ["--against", "http://127.0.0.1:1", "--operator-token-file", "/nowhere/token"],
      problem: "the operator token /nowhere/token cannot be read: it does not exist",
    },
  ])("refuses $name", async ({ argv, problem }) => {
    const expected = typeof problem === "string" ? problem : expect.stringMatching(problem);
    const { problems } = (await conformance(argv)) as { problems: readonly string[] };
    expect(problems[0]).toEqual(expected);
  });

  it("says that the operator calls cannot be reached, or refuse the token", async () => {
    const cp = await startControlPlane();
    const file = join(tempFolder(), "token");
    writeFileSync(file, "not-the-operator-token\n");
    const against = ["--against", cp.stepUrl, "--operator-token-file", file, "--operator-url"];
    expect(await conformance([...against, cp.operatorUrl])).toEqual({
      problems: ["the operator call was refused: 401 unauthorized"],
    });
    expect(await conformance([...against, "http://127.0.0.1:1"])).toEqual({
      problems: ["the operator calls cannot be reached: ECONNREFUSED"],
    });
  });

  it("stops at once, in the middle of a call that is not answered", async () => {
    const silent = createServer((socket) => {
      socket.on("error", () => undefined);
      stopping.abort();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void silent.close());
    await once(silent, "listening");
    const stopping = new AbortController();
    const { port } = silent.address() as AddressInfo;
    const fixture = answer({ url: `http://127.0.0.1:${String(port)}` });
    const { signal: stop } = stopping;
    expect(await conformance(["--fixture", fixture], { signal: stop })).toEqual({
      problems: ["stopped before every check was made"],
    });
  });

  it("says where it was stopped", async () => {
    const stopped = { signal: AbortSignal.abort() };
    expect(await conformance(["--fixture", "true"], stopped)).toEqual({
      problems: ["stopped before every check was made"],
    });
  });
});

/** False for a zombie too: who reaps an orphan is the machine's affair. */
function isRunning(pid: string): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

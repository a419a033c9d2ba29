import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { escapeText } from "../../contract/escape.ts";
import {
  FixtureError,
  parseFreshStep,
  type Fixture,
  type Origin,
  type StepKind,
} from "./fixture.ts";

/** For one step. */
const defaultTimeoutMs = 60_000;
const maxQuotedLength = 200;

export interface CommandFixtureOptions {
  /** For `/bin/sh -c`. */
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  readonly allowHttp: boolean;
  readonly signal: AbortSignal;
  /** Of one call (60 s). */
  readonly timeoutMs?: number;
}

/** A fixture that is a shell command: it prints one JSON object for each step (API page, Conformance). */
export function commandFixture(options: CommandFixtureOptions): Fixture {
  return {
    stamp: async (kind, origin) => {
      const output = await runCommand(options, kind, origin);
      let json: unknown;
      try {
        json = JSON.parse(output);
      } catch {
        throw new FixtureError(`the fixture did not print one JSON object for \`${kind}\``);
      }
      return parseFreshStep(json, options);
    },
  };
}

/** What the command printed. Ends it with all that it started, in a group of its own, when its time is over. */
async function runCommand(
  { command, env, signal, timeoutMs = defaultTimeoutMs }: CommandFixtureOptions,
  kind: StepKind,
  origin: Origin | undefined,
): Promise<string> {
  signal.throwIfAborted();
  const child = spawn("/bin/sh", ["-c", command], {
    env: {
      ...env,
      WFVAR_FIXTURE_KIND: kind,
      ...(origin && { WFVAR_FIXTURE_RUN: origin.run, WFVAR_FIXTURE_STEP: origin.step }),
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const timeout = AbortSignal.timeout(timeoutMs);
  const over = AbortSignal.any([signal, timeout]);
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has just ended, and `close` is about to say so.
    }
  };
  over.addEventListener("abort", kill);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]).finally(() => over.removeEventListener("abort", kill));
  if (code === 0) return stdout;
  const last = stderr.trimEnd().split("\n").at(-1) ?? "";
  const said = last === "" ? "" : `: ${escapeText(last).slice(0, maxQuotedLength)}`;
  const why = timeout.aborted
    ? `it took more than ${String(timeoutMs / 1000)} s`
    : `exit code ${String(code)}${said}`;
  throw new FixtureError(`the fixture failed for \`${kind}\`: ${why}`);
}

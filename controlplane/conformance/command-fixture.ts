import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { z } from "zod";
import { escapeText } from "../../contract/escape.ts";
import {
  FixtureError,
  parseFreshStep,
  type Fixture,
  type Origin,
  type StepKind,
} from "./fixture.ts";

const run = promisify(execFile);
/** For one step. */
const timeoutMs = 60_000;
const maxOutputBytes = 1024 ** 2;
const maxQuotedLength = 200;

/** What Node says of a command that failed; `code` is its exit code, or why it never ran. */
const failure = z.object({
  code: z.union([z.number(), z.string()]).nullish(),
  killed: z.boolean().optional(),
  stderr: z.string().optional(),
});

export interface CommandFixtureOptions {
  /** For `/bin/sh -c`. */
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  readonly allowHttp: boolean;
  readonly signal: AbortSignal;
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

async function runCommand(
  { command, env, signal }: CommandFixtureOptions,
  kind: StepKind,
  origin: Origin | undefined,
): Promise<string> {
  const asked = {
    WFVAR_FIXTURE_KIND: kind,
    ...(origin && { WFVAR_FIXTURE_RUN: origin.run, WFVAR_FIXTURE_STEP: origin.step }),
  };
  try {
    const { stdout } = await run("/bin/sh", ["-c", command], {
      env: { ...env, ...asked },
      timeout: timeoutMs,
      maxBuffer: maxOutputBytes,
      signal,
    });
    return stdout;
  } catch (error) {
    throw new FixtureError(`the fixture failed for \`${kind}\`: ${whyFailed(error)}`, {
      cause: error,
    });
  }
}

/** Node's own message would quote the whole command. */
function whyFailed(error: unknown): string {
  const { code, killed, stderr = "" } = failure.safeParse(error).data ?? {};
  if (killed === true) return `it took more than ${String(timeoutMs / 1000)} s`;
  const last = stderr.trimEnd().split("\n").at(-1) ?? "";
  const said = last === "" ? "" : `: ${escapeText(last).slice(0, maxQuotedLength)}`;
  return typeof code === "number" ? `exit code ${String(code)}${said}` : (code ?? "no exit code");
}

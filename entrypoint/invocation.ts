import { defaultRoot, rootVariable, selfVariable } from "../contract/layout.ts";
import { describeSettings, durationMs, readSettings, text, toggle } from "../contract/settings.ts";
import { version } from "../contract/version.ts";

/** What one call of the entrypoint asks for: its settings, its folders and the agent's command (WV-15). */

export type Command = readonly [string, ...string[]];

export interface Run {
  readonly kind: "run";
  /** The variables folder, as the environment spells it. */
  readonly root: string;
  /** The own folder, as the environment spells it; undefined where `.self` must tell. */
  readonly self: string | undefined;
  readonly command: Command;
  readonly agentGraceMs: number;
  readonly finalizeDir: string;
  readonly finalizeTimeoutMs: number;
  readonly captureResponse: boolean;
}

export interface Refusal {
  readonly kind: "refusal";
  readonly root: string;
  /** Everything that is wrong, in one line. */
  readonly problem: string;
}

export interface Answer {
  readonly kind: "answer";
  /** For stdout, with its line end. */
  readonly text: string;
}

const settings = {
  agentGraceMs: durationMs({
    env: "WFVAR_AGENT_GRACE",
    placeholder: "DURATION",
    help: "from TERM or INT until the agent is killed (10s)",
    fallback: 10_000,
  }),
  finalizeDir: text({
    env: "WFVAR_FINALIZE_DIR",
    placeholder: "DIR",
    help: "hooks to run after the agent (/opt/agent/finalize.d)",
    fallback: "/opt/agent/finalize.d",
  }),
  finalizeTimeoutMs: durationMs({
    env: "WFVAR_FINALIZE_TIMEOUT",
    placeholder: "DURATION",
    help: "for all hooks together; 5s after TERM or INT (60s)",
    fallback: 60_000,
  }),
  captureResponse: toggle({
    env: "WFVAR_CAPTURE_RESPONSE",
    help: "keep stdout's tail as the variable response, stderr's last 4 KiB as failure",
    fallback: false,
  }),
};

const usage = "entrypoint [options] -- COMMAND [ARG...]";
const note = `Node reaps no orphans: as PID 1 this process leaves zombies until the container ends.
Run it under an init: tini -- entrypoint ...`;

/** Timers take no more (24.8 days) and fire at once past it: an endless grace must not become none. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Reads a call. Everything after the first `--` is the agent's command, untouched. Pure; reports every
 * problem at once.
 */
export function parseInvocation(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Run | Refusal | Answer {
  const separator = argv.indexOf("--");
  const options = separator === -1 ? argv : argv.slice(0, separator);
  const [file, ...args] = separator === -1 ? [] : argv.slice(separator + 1);
  const {
    values,
    words,
    help,
    version: versionAsked,
    problems,
  } = readSettings(settings, options, env);
  if (help)
    return { kind: "answer", text: `${usage}\n\n${describeSettings(settings)}\n\n${note}\n` };
  if (versionAsked) return { kind: "answer", text: `${version}\n` };

  const root = nonEmpty(env[rootVariable]) ?? defaultRoot;
  const all = [...problems];
  if (words.length > 0) all.push("options and their values only before --");
  if (file === undefined) all.push(`no command; usage: ${usage}`);
  if (file === undefined || all.length > 0) {
    return { kind: "refusal", root, problem: all.join("; ") };
  }
  return {
    kind: "run",
    root,
    self: nonEmpty(env[selfVariable]),
    command: [file, ...args],
    agentGraceMs: Math.min(values.agentGraceMs, maxTimerMs),
    finalizeDir: values.finalizeDir,
    finalizeTimeoutMs: Math.min(values.finalizeTimeoutMs, maxTimerMs),
    captureResponse: values.captureResponse,
  };
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

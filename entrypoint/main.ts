#!/usr/bin/env node
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { escapeText } from "../contract/escape.ts";
import type { Marker } from "../contract/marker.ts";
import { version } from "../contract/version.ts";
import { type AgentEnd, runAgent } from "./agent.ts";
import { Capture } from "./capture.ts";
import { EntrypointError, toEntrypointError } from "./entrypoint-error.ts";
import { agentEnvironment, hookEnvironment } from "./environment.ts";
import { noFinalize, runFinalize } from "./finalize.ts";
import { parseInvocation, type Refusal, type Run } from "./invocation.ts";
import { endLeftovers } from "./leftovers.ts";
import { holdLiveness } from "./liveness.ts";
import { MarkerFile } from "./marker-file.ts";
import { findOwnFolder } from "./own-folder.ts";
import { makeReadable } from "./readable.ts";
import { Signals } from "./signals.ts";
import { readLimits } from "./limits-of-step.ts";
import { openRoot, signStart } from "./volume.ts";

const stdin = 0;
const stdout = 1;
const stderr = 2;
/** The entrypoint's own failure (WV-15). */
const ownFailure = 125;
/** What the agent left behind has this long between TERM and KILL. */
const maxLeftoversGraceMs = 2000;

interface StepEnd {
  readonly agent: AgentEnd;
  readonly finalize: Marker["finalize"];
}

/** One step, from the first handler to the marker; gives the exit code. Throws where not even a marker can be left. */
async function main(): Promise<number> {
  const onTerminal = isatty(stdin);
  const signals = new Signals(process, { onTerminal });
  const startedAt = new Date();
  const invocation = parseInvocation(process.argv.slice(2), process.env);
  if (invocation.kind === "answer") {
    writeSync(stdout, invocation.text);
    return 0;
  }
  process.umask(0o022);

  const rootFd = openRoot(invocation.root);
  MarkerFile.refuseSecond(rootFd);
  signStart(rootFd);
  holdLiveness(rootFd);
  const markerFile = new MarkerFile(rootFd);

  const { agent, finalize } = await Promise.race([
    runStep(invocation, rootFd, signals, onTerminal),
    uncaughtException(),
  ]).catch(failedStep);

  markerFile.commit({
    version: 1,
    outcome: agent.outcome,
    exit_code: agent.exitCode,
    signal: agent.signal,
    started_at: startedAt.toISOString(),
    finished_at: new Date().toISOString(),
    finalize,
    kit: version,
  });
  return agent.exitCode;
}

async function runStep(
  invocation: Run | Refusal,
  rootFd: number,
  signals: Signals,
  onTerminal: boolean,
): Promise<StepEnd> {
  if (invocation.kind === "refusal") throw new EntrypointError("usage", invocation.problem);
  const ownFolder = findOwnFolder(rootFd, invocation.root, invocation.self);
  const limits = readLimits(rootFd);
  const maxEntries = limits.max_step_entries;
  const env = agentEnvironment(process.env);

  const capture = openCapture(invocation, rootFd, ownFolder, limits.max_value_bytes, onTerminal);
  const agent = await runAgent(invocation.command, {
    env,
    graceMs: invocation.agentGraceMs,
    signals,
    onTerminal,
    capture,
  });
  if (agent.problem !== undefined) report(agent.problem);
  if (agent.group !== undefined) {
    const graceMs = leftoversGraceMs(signals, invocation.agentGraceMs);
    const gone = await endLeftovers(agent.group, { graceMs, hurry: signals.insistence });
    if (!gone) warn("processes that the agent left behind are still there");
  }
  for (const problem of (await capture?.save()) ?? []) warn(problem);
  const finalize = await runFinalize({
    dir: invocation.finalizeDir,
    timeoutMs: invocation.finalizeTimeoutMs,
    env: hookEnvironment(env, agent),
    termination: signals.termination,
    warn,
  });
  const { failed, truncated } = makeReadable(rootFd, ownFolder, maxEntries);
  if (failed > 0) warn(`${String(failed)} entries of the own folder could not be made readable`);
  if (truncated) warn(`the own folder has more than ${String(maxEntries)} entries`);
  return { agent, finalize };
}

/** An agent on a terminal keeps it: what is read along would no longer be one. */
function openCapture(
  { captureResponse, root }: Run,
  rootFd: number,
  ownFolder: readonly string[],
  maxValueBytes: number,
  onTerminal: boolean,
): Capture | undefined {
  if (!captureResponse) return undefined;
  if (onTerminal) warn("the response is not captured: the agent has the terminal");
  const self = [root.replace(/\/+$/, ""), ...ownFolder].join("/");
  return onTerminal ? undefined : new Capture(rootFd, { root, self, maxValueBytes });
}

/** After a termination no more than what is left of the agent's grace: a pod that is being ended counts on it. */
function leftoversGraceMs({ terminatedAtMs }: Signals, agentGraceMs: number): number {
  if (terminatedAtMs === undefined) return maxLeftoversGraceMs;
  const leftMs = terminatedAtMs + agentGraceMs - performance.now();
  return Math.min(Math.max(leftMs, 0), maxLeftoversGraceMs);
}

/** Rejects at a fault that nothing here caught, so that it too ends in a marker. */
function uncaughtException(): Promise<never> {
  return new Promise((_, reject) => {
    process.once("uncaughtException", reject);
  });
}

function failedStep(error: unknown): StepEnd {
  report(error);
  const agent: AgentEnd = {
    outcome: "failed",
    exitCode: ownFailure,
    signal: null,
    group: undefined,
    problem: undefined,
  };
  return { agent, finalize: noFinalize };
}

function report(error: unknown): void {
  const { code, message } = toEntrypointError(error);
  printLine(`${code}: ${message}`);
}

function warn(message: string): void {
  printLine(`warning: ${message}`);
}

/**
 * Not through `process.stderr`: that would make the pipe non-blocking for the agent, which shares it. A line that cannot be printed is given up,
 * never the step.
 */
function printLine(line: string): void {
  try {
    writeSync(stderr, `entrypoint: ${escapeText(line)}\n`);
  } catch {
    // Nobody reads any more, and there is no other place to say so.
  }
}

main().then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    report(error);
    process.exit(ownFailure);
  },
);

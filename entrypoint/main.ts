#!/usr/bin/env node
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
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
import { saveCaptured } from "./save-captured.ts";
import { Signals } from "./signals.ts";
import { printLine } from "./stderr-line.ts";
import { readStepLimits } from "./step-limits.ts";
import { openRoot, signStart } from "./volume.ts";

const stdin = 0;
const stdout = 1;
/** The entrypoint's own failure (WV-15). */
const ownFailure = 125;
/** What the agent left behind has this long between TERM and KILL. */
const maxLeftoversGraceMs = 2000;
/**
 * Captured output is waited for this long, because a daemon may hold it open; also past the grace, what
 * stands in the pipe is read.
 */
const maxDrainMs = 1000;
const minDrainMs = 100;

interface StepEnd {
  readonly agent: AgentEnd;
  readonly finalize: Marker["finalize"];
}

/**
 * One step, from the first handler to the marker; gives the exit code. Throws where not even a marker can be
 * left.
 */
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

  const rootFd = openVolume(invocation);
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

/** A command line that makes no sense is said even where no marker can be left. */
function openVolume(invocation: Run | Refusal): number {
  try {
    return openRoot(invocation.root);
  } catch (error) {
    if (invocation.kind === "refusal") report(new EntrypointError("usage", invocation.problem));
    throw error;
  }
}

async function runStep(
  invocation: Run | Refusal,
  rootFd: number,
  signals: Signals,
  onTerminal: boolean,
): Promise<StepEnd> {
  if (invocation.kind === "refusal") throw new EntrypointError("usage", invocation.problem);
  const ownFolder = findOwnFolder(rootFd, invocation.root, invocation.self);
  const limits = readStepLimits(rootFd);
  const maxEntries = limits.max_step_entries;
  const env = agentEnvironment(process.env);

  const capture = openCapture(invocation, rootFd, limits.max_value_bytes, onTerminal);
  const agent = await runAgent(invocation.command, {
    env,
    graceMs: invocation.agentGraceMs,
    signals,
    onTerminal,
    stdin: "inherit",
    capture,
  });
  if (agent.problem !== undefined) report(agent.problem);
  if (agent.group !== undefined) {
    const graceMs = Math.min(graceLeftMs(signals, invocation.agentGraceMs), maxLeftoversGraceMs);
    const gone = await endLeftovers(agent.group, { graceMs, hurry: signals.insistence });
    if (!gone) warn("processes that the agent left behind are still there");
  }
  if (capture !== undefined && agent.group !== undefined) {
    const leftMs = graceLeftMs(signals, invocation.agentGraceMs);
    const captured = await capture.finish(Math.min(Math.max(leftMs, minDrainMs), maxDrainMs));
    for (const problem of await saveCaptured(captured, { root: invocation.root, ownFolder }))
      warn(problem);
  }
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

/** An agent on a terminal keeps it: what we read along would no longer be one. */
function openCapture(
  { captureResponse }: Run,
  rootFd: number,
  maxValueBytes: number,
  onTerminal: boolean,
): Capture | undefined {
  if (!captureResponse) return undefined;
  if (!onTerminal) return new Capture(rootFd, maxValueBytes);
  warn("the response is not captured: the agent has the terminal");
  return undefined;
}

/**
 * Endless without a termination. After one, what is left of the agent's grace: a pod that is being ended
 * counts on it.
 */
function graceLeftMs({ terminatedAtMs }: Signals, agentGraceMs: number): number {
  if (terminatedAtMs === undefined) return Infinity;
  return Math.max(terminatedAtMs + agentGraceMs - performance.now(), 0);
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

main().then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    report(error);
    process.exit(ownFailure);
  },
);

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { setImmediate } from "node:timers/promises";
import type { Outcome } from "../contract/marker.ts";
import type { Capture } from "./capture.ts";
import type { EntrypointError } from "./entrypoint-error.ts";
import type { Environment } from "./environment.ts";
import type { Command } from "./invocation.ts";
import { explainLaunch } from "./launch-problem.ts";
import { signalGroup, signalProcess } from "./process-group.ts";
import type { Signals } from "./signals.ts";

/** How the agent ended, or why it never began. */
export interface AgentEnd {
  readonly outcome: Outcome;
  /** The entrypoint's own exit status, 0–255. */
  readonly exitCode: number;
  /** The signal that ended the agent. */
  readonly signal: NodeJS.Signals | null;
  /** Its process group, which may still have members; undefined where it has none of its own. */
  readonly group: number | undefined;
  /** Why it could not be started. */
  readonly problem: EntrypointError | undefined;
}

export interface AgentOptions {
  readonly env: Environment;
  /** From the first TERM or INT until the agent is killed. */
  readonly graceMs: number;
  readonly signals: Signals;
  /** It then shares our session and group, and with them the terminal. */
  readonly onTerminal: boolean;
  /** What it reads: ours, or a descriptor, as of `openInput`. */
  readonly stdin: "inherit" | number;
  /** Reads along with its output; undefined where it has ours as it is. */
  readonly capture: Capture | undefined;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Runs the agent until its process exits, whatever still holds its pipes (WV-15): in its own session, but on
 * a terminal in ours. A command that cannot be started is an end too: 127 not found, 126 not runnable, 125
 * for want of resources. Never rejects for any of these.
 */
export async function runAgent(command: Command, options: AgentOptions): Promise<AgentEnd> {
  const { signals } = options;
  // A caught signal reaches its handler in the event loop's next turn, and must be known before there is an agent.
  await setImmediate();
  if (signals.terminatedBy !== undefined) {
    return ended("terminated", exitCodeOfSignal(signals.terminatedBy));
  }
  let group: number | undefined;
  let exit: Exit;
  try {
    const agent = startAgent(command, options);
    if (!options.onTerminal) group = agent.pid;
    exit = await supervise(agent, options);
  } catch (error) {
    const { problem, exitCode } = explainLaunch(command[0], options.env["PATH"], error);
    const outcome = signals.terminatedBy === undefined ? "failed" : "terminated";
    return { ...ended(outcome, exitCode), problem };
  }
  const exitCode = exit.signal === null ? (exit.code ?? 0) : exitCodeOfSignal(exit.signal);
  const unasked = exitCode === 0 ? "succeeded" : "failed";
  const outcome = signals.terminatedBy === undefined ? unasked : "terminated";
  return { ...ended(outcome, exitCode), signal: exit.signal, group };
}

interface Agent {
  /** Undefined where it could not be started; `exited` rejects then. */
  readonly pid: number | undefined;
  readonly exited: Promise<Exit>;
}

/** Throws, or rejects, with the errno of a failed exec: which of the two depends on the errno. */
function startAgent([file, ...args]: Command, options: AgentOptions): Agent {
  const { env, stdin, onTerminal, capture } = options;
  const [stdout, stderr] = capture?.stdio ?? ["inherit", "inherit"];
  let child: ChildProcess | undefined;
  try {
    child = spawn(file, args, { env, stdio: [stdin, stdout, stderr], detached: !onTerminal });
  } finally {
    capture?.attach(child);
  }
  return { pid: child.pid, exited: exitOf(child) };
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

async function supervise({ pid, exited }: Agent, options: AgentOptions): Promise<Exit> {
  if (pid === undefined) return exited;
  const { signals, graceMs, onTerminal } = options;
  // On a terminal the group is ours too.
  const send = (signal: NodeJS.Signals): void =>
    void (onTerminal ? signalProcess(pid, signal) : signalGroup(pid, signal));
  let grace: NodeJS.Timeout | undefined;
  const kill = (): void => send("SIGKILL");
  const startGrace = (): void => {
    grace = setTimeout(kill, graceMs);
  };
  signals.termination.addEventListener("abort", startGrace);
  signals.insistence.addEventListener("abort", kill);
  // Should this process end early by a fault of its own, no agent may go on writing behind the marker.
  process.once("exit", kill);
  signals.forwardTo(send);
  try {
    return await exited;
  } finally {
    signals.stopForwarding();
    process.removeListener("exit", kill);
    signals.insistence.removeEventListener("abort", kill);
    signals.termination.removeEventListener("abort", startGrace);
    clearTimeout(grace);
  }
}

function ended(outcome: Outcome, exitCode: number): AgentEnd {
  return { outcome, exitCode, signal: null, group: undefined, problem: undefined };
}

function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

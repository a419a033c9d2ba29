import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseStepPath } from "../../contract/ids.ts";
import { issueAdvice } from "../../contract/issue-advice.ts";
import { isJsonObject, parseJsonObject } from "../../contract/json.ts";
import { rootVariable, selfVariable } from "../../contract/layout.ts";
import { isConfirmation } from "./confirmation.ts";
import { openOutputPipe } from "./fifo.ts";
import { leash } from "./leash.ts";
import { onEachLine } from "./output-lines.ts";

/**
 * Runs a step on this machine as a pod would: prefill, then entrypoint and sidecar side by side, each the
 * bundle that ships, over a root folder of the step's own. It isolates nothing: the threat model holds for
 * containers (WV-16).
 */

// The processes are groups of their own: Ctrl-C reaches the whole foreground group, and the runner alone says
// when to stop.

/**
 * How long output may still come after the step's processes are gone: a daemon that it left may hold the pipe
 * for ever.
 */
const drainMs = 200;
/** As the sidecar's own default says. */
const podGraceMs = 30_000;
/** Of the sidecar's JSON log. */
const warningLevel = 40;

export interface ProcessRunnerDeps {
  /** The Node that runs the bundles. */
  readonly node: string;
  /** `dist/sidecar/main.mjs`. */
  readonly sidecar: string;
  /** `dist/agent`, what images have at /opt/agent. */
  readonly kitDir: string;
  /** Where the DOT file is; scripts find it as WORKFLOW_FILE_DIR. */
  readonly workflowDir: string;
  /** Of the step listener. */
  readonly cpUrl: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface StepProcess {
  readonly token: string;
  /** The step path. */
  readonly step: string;
  /** As the control plane stamped it. */
  readonly env: Readonly<Record<string, string>>;
  readonly script: string;
  /** A folder of this attempt alone; made here. */
  readonly folder: string;
  /** Each line of the agent's output. */
  readonly onLine: (line: string) => void;
  /** What the sidecar warns of, one line each: a control plane that does not answer, for one. */
  readonly onTrouble: (text: string) => void;
  /** Aborts when the run is to stop. */
  readonly signal: AbortSignal;
}

/**
 * How the step's processes ended. Whether the step succeeded is the control plane's to say, from the pack.
 */
export interface StepExit {
  /** The entrypoint's exit; null where prefill failed and no agent was started. */
  readonly agent: number | null;
  readonly sidecar: number;
  /** The last line that the agent wrote and that may say why it failed. */
  readonly lastLine: string | undefined;
}

/** Resolves when all processes of the step are gone. */
export async function runStepProcess(
  deps: ProcessRunnerDeps,
  stepProcess: StepProcess,
): Promise<StepExit> {
  const { token, step, env, script, folder, onLine, onTrouble, signal } = stepProcess;
  const root = join(folder, "variables");
  await mkdir(root, { recursive: true });
  await chmod(root, 0o777);
  const tokenFile = join(folder, "token");
  await writeFile(tokenFile, token, { mode: 0o600 });
  const paths = {
    [rootVariable]: root,
    [selfVariable]: [root, ...(parseStepPath(step)?.segments ?? [])].join("/"),
  };
  const sidecarEnv = {
    ...env,
    ...paths,
    WFVAR_CP_URL: deps.cpUrl,
    WFVAR_TOKEN_FILE: tokenFile,
    WFVAR_INSTANCE: randomUUID(),
    WFVAR_TERMINATION_LOG: join(folder, "termination-log"),
  };
  const log = createWriteStream(join(folder, "sidecar.log"));
  const startSidecar = (command: string): ChildProcess => {
    const child = spawn(deps.node, [deps.sidecar, command], {
      env: sidecarEnv,
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    onEachLine(child.stderr, (line) => {
      log.write(`${line}\n`);
      const trouble = troubleIn(line);
      if (trouble !== undefined) onTrouble(trouble);
    });
    return child;
  };
  try {
    const prefill = await ended(startSidecar("prefill"));
    if (prefill !== 0 || signal.aborted)
      return { agent: null, sidecar: prefill, lastLine: undefined };

    const output = await openOutputPipe(join(folder, "output"));
    let lastLine: string | undefined;
    onEachLine(output.reader, (line) => {
      if (line.trim() !== "" && !isConfirmation(line, step)) lastLine = line;
      onLine(line);
    });
    const drained = once(output.reader, "close");
    const sidecar = startSidecar("pack");
    const agent = spawn(join(deps.kitDir, "bin", "entrypoint"), ["--", "sh", "-c", script], {
      env: agentEnv(deps, paths),
      stdio: ["ignore", output.writeFd, output.writeFd],
      detached: true,
    });
    // Without the runner there is no control plane that would take what the sidecar has.
    using _ = leash([
      { signal: "TERM", pid: agent.pid },
      { signal: "KILL", pid: sidecar.pid },
    ]);
    output.closeWriter();
    const agentEnd = ended(agent);
    const sidecarEnd = ended(sidecar);
    // The order of a pod's end: first the agent, then the sidecar beside it. Neither may hold up the run for ever.
    const stopAgent = (): void => terminate(agent, agentEnd);
    const stop = (): void => {
      stopAgent();
      void agentEnd.then(() => terminate(sidecar, sidecarEnd));
    };
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    // A sidecar that is done before the agent is (the deadline, a refusal) ends the step.
    void sidecarEnd.then(stopAgent);
    try {
      const [agentExit, sidecarExit] = await Promise.all([agentEnd, sidecarEnd]);
      await Promise.race([drained, delay(drainMs)]);
      return { agent: agentExit, sidecar: sidecarExit, lastLine };
    } finally {
      signal.removeEventListener("abort", stop);
      output.reader.destroy();
    }
  } finally {
    log.end();
  }
}

/** What a line of the sidecar's log says for a person, where it is a warning or worse. */
function troubleIn(line: string): string | undefined {
  const entry = parseJsonObject(Buffer.from(line));
  if (entry === undefined) return line;
  const { level, event, message, reason, rejected } = entry;
  if (event === "delivered" && Array.isArray(rejected) && rejected.length > 0) {
    const named = rejected.filter(isJsonObject).map(({ code, path, limit }) => {
      const most = typeof limit === "number" ? ` (the limit is ${String(limit)} bytes)` : "";
      const known = Object.entries(issueAdvice).find(([name]) => name === code);
      return `${String(path)}: ${String(code)}${most}${known === undefined ? "" : `: ${known[1]}`}`;
    });
    return `rejected ${named.join("; ")}`;
  }
  if (typeof level !== "number" || level < warningLevel) return undefined;
  const detail = [message, reason].filter((text) => typeof text === "string").join(" ");
  return `${String(event)}: ${detail}`;
}

function agentEnv(deps: ProcessRunnerDeps, paths: Record<string, string>): NodeJS.ProcessEnv {
  const { env, kitDir, workflowDir } = deps;
  return {
    ...env,
    ...paths,
    PATH: `${join(kitDir, "bin")}:${env["PATH"] ?? "/usr/bin:/bin"}`,
    WORKFLOW_FILE_DIR: workflowDir,
    WORKFLOW_KIT_DIR: kitDir,
  };
}

/** TERM, and KILL where that is not obeyed in the time that a pod would have. */
function terminate(child: ChildProcess, end: Promise<number>): void {
  child.kill("SIGTERM");
  const kill = setTimeout(() => child.kill("SIGKILL"), podGraceMs);
  void end.then(() => clearTimeout(kill));
}

/**
 * The exit code; 128 and more for a signal is the shell's way, and 125 stands for a child that could not be
 * started.
 */
async function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(125));
    child.once("exit", (code) => resolve(code ?? 128));
  });
}

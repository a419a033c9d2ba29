import { closeSync } from "node:fs";
import type { Logger } from "pino";
import { version } from "../contract/version.ts";
import { configHelp, parseConfig, type Config, type ParsedConfig } from "./config.ts";
import { errnoOf, openRoot, procWorks } from "./descriptor.ts";
import type { Interruption } from "./interruption.ts";
import { startLog } from "./log.ts";
import { writeLastWord, type LastWord } from "./last-word.ts";
import { SidecarError } from "./sidecar-error.ts";

export interface RunOptions {
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly interruption: Interruption;
  readonly print: (text: string) => void;
}

type Command = keyof typeof commands;

/** Runs one subcommand to its end; throws SidecarError. Everything was logged by then. */
export async function run({ argv, env, interruption, print }: RunOptions): Promise<void> {
  const [command, ...flags] = argv;
  if (command === "--version") return print(`${version}\n`);
  if (command === "--help" || command === undefined) return print(help);
  if (command !== "prefill" && command !== "pack") {
    throw complain(startLog("info"), usage("unknown subcommand"), undefined);
  }
  let parsed: ParsedConfig;
  try {
    parsed = parseConfig(flags, env);
  } catch (error) {
    throw complain(startLog("info"), error, env["WFVAR_TERMINATION_LOG"]);
  }
  if (parsed.show !== undefined) {
    const page = `${commandHelp[command]}\n${configHelp()}\n`;
    return print(parsed.show === "help" ? page : `${version}\n`);
  }
  const { config } = parsed;
  const log = startLog(config.logLevel).child(identity(config));
  try {
    const rootFd = openVolume(config.root);
    try {
      const runCommand = await commands[command]();
      await runCommand(rootFd, config, interruption, log);
    } finally {
      closeSync(rootFd);
    }
  } catch (error) {
    throw complain(log, error, config.terminationLog);
  }
}

/** Each is loaded when it runs: a sidecar that waits holds neither HTTP client nor tar. */
const commands = {
  prefill: async () => (await import("./prefill-command.ts")).prefillCommand,
  pack: async () => (await import("./pack-command.ts")).packCommand,
};

function openVolume(root: string): number {
  let fd: number;
  try {
    fd = openRoot(root);
  } catch (error) {
    throw new SidecarError("volume_unusable", `the volume cannot be opened: ${errnoOf(error)}`, {
      cause: error,
    });
  }
  if (procWorks(fd)) return fd;
  closeSync(fd);
  throw new SidecarError("volume_unusable", "/proc is needed to walk the volume safely");
}

function identity({ target }: Config): Record<string, unknown> {
  return { run: target.run, step: target.step.text, attempt: target.attempt };
}

/** Says the last word about a failure, on stderr and in the termination message, and gives it back as ours. */
function complain(log: Logger, error: unknown, terminationLog: string | undefined): SidecarError {
  const known =
    error instanceof SidecarError
      ? error
      : new SidecarError("volume_unusable", `unexpected failure: ${nameOf(error)}`, {
          cause: error,
        });
  log.error({ event: "failed", code: known.code, message: known.message, ...cause(known) });
  const word: LastWord = { result: known.code, message: known.message };
  if (terminationLog !== undefined) writeLastWord(terminationLog, word);
  return known;
}

/** Where an unexpected failure came from, for the one who mends it. */
function cause(error: SidecarError): { stack?: string } {
  const inner = error.cause;
  return inner instanceof Error && errnoOf(inner) === "" && inner.stack !== undefined
    ? { stack: inner.stack }
    : {};
}

function nameOf(error: unknown): string {
  return error instanceof Error ? errnoOf(error) || error.name : typeof error;
}

function usage(problem: string): SidecarError {
  return new SidecarError("config_invalid", `${problem}; see wfvar-sidecar --help`);
}

const help = `wfvar-sidecar ${version}: carries a step's variables between its pod and the control plane

  wfvar-sidecar prefill [flags]   before the agent: fill the volume with what the step may see
  wfvar-sidecar pack [flags]      beside the agent: wait for its end, pack its folder, deliver it

  wfvar-sidecar SUBCOMMAND --help lists the flags; each is also an environment variable: --cp-url is WFVAR_CP_URL
  Exit codes: 0 delivered, 2 configuration, 10 refused by the control plane for good, 11 not delivered in time, 12 failure of this machine
`;

const commandHelp: Record<Command, string> = {
  prefill: "wfvar-sidecar prefill: fills the volume with what the step may see\n",
  pack: "wfvar-sidecar pack: waits for the agent's end, packs its folder, delivers it once\n",
};

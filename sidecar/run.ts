import { closeSync } from "node:fs";
import type { Logger } from "pino";
import { suggest } from "../contract/nearest-name.ts";
import { version } from "../contract/version.ts";
import { configHelp, parseConfig, type Config, type ParsedConfig } from "./config.ts";
import { defaultTerminationLog, type sidecarSettings } from "./settings.ts";
import { errnoOf } from "./descriptor.ts";
import type { Interruption } from "./interruption.ts";
import { startLog } from "./log.ts";
import type { Pod } from "./pod.ts";
import { SidecarError } from "./sidecar-error.ts";
import { StateLog } from "./state-log.ts";
import { openVolume } from "./volume.ts";

export interface RunOptions {
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly interruption: Interruption;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  readonly readStdin: () => Promise<string>;
}

/** Each is loaded when it runs: a sidecar that waits holds neither HTTP client nor tar. */
const inPod = {
  prefill: async () => (await import("./prefill-command.ts")).prefillCommand,
  pack: async () => (await import("./pack-command.ts")).packCommand,
};

/** For a person: plain lines on stdout, no log. */
const atDesk = {
  status: async () => (await import("./status-command.ts")).statusCommand,
  doctor: async () => (await import("./doctor-command.ts")).doctorCommand,
};

/** Runs one subcommand to its end; throws SidecarError. Everything was said by then. */
export async function run(options: RunOptions): Promise<void> {
  const { argv, env, interruption, print } = options;
  const [command, ...flags] = argv;
  // An init container whose arguments were forgotten must not look as if it had done its work.
  if (command === undefined) throw complain(startLog("info"), usage("name a subcommand"));
  if (command === "--version") return print(`${version}\n`);
  const [about] = flags;
  if (command === "help" && about !== undefined)
    return run({ ...options, argv: [about, "--help"] });
  if (command === "--help" || command === "-h" || command === "help") return print(help);
  if (!isOneOf(commandHelp, command)) {
    const names = Object.keys(commandHelp);
    const problem = `unknown subcommand ${command}${suggest(command, names)}: they are ${names.join(", ")}`;
    throw complain(startLog("info"), usage(problem));
  }
  if (command === "inject") {
    const { injectCommand } = await import("./inject/inject-command.ts");
    return injectCommand(flags, options);
  }
  const terminationLog = env["WFVAR_TERMINATION_LOG"] ?? defaultTerminationLog;
  let parsed: ParsedConfig;
  try {
    parsed = parseConfig(flags, env);
  } catch (error) {
    if (!isOneOf(inPod, command)) throw printed(error, print);
    throw complain(startLog("info"), error, stateLog(terminationLog));
  }
  if (parsed.show !== undefined) {
    const notes = command === "pack" ? shutdownNotes : "";
    const page = `wfvar-sidecar ${command}: ${commandHelp[command]}\n\n${configHelp(unusedBy[command])}\n${notes}`;
    return print(parsed.show === "help" ? page : `${version}\n`);
  }
  const { config } = parsed;
  if (isOneOf(atDesk, command)) {
    const atDeskCommand = await atDesk[command]();
    return atDeskCommand(config, print);
  }
  const log = startLog(config.logLevel).child(identity(config));
  const state = stateLog(config.terminationLog);
  try {
    const rootFd = openVolume(config.root);
    try {
      const pod: Pod = { rootFd, config, interruption, log, state };
      const podCommand = await inPod[command]();
      await podCommand(pod);
    } finally {
      closeSync(rootFd);
    }
  } catch (error) {
    throw complain(log, error, state);
  }
}

function isOneOf<T extends object>(commands: T, name: string | number | symbol): name is keyof T {
  return Object.hasOwn(commands, name);
}

function stateLog(file: string): StateLog {
  return new StateLog(file, () => new Date());
}

function identity({ target }: Config): Record<string, unknown> {
  return { run: target.run, step: target.step.text, attempt: target.attempt };
}

/**
 * Says the last word about a failure, on stderr and in the termination message, and gives it back as ours.
 */
function complain(log: Logger, error: unknown, state?: StateLog): SidecarError {
  const known = asSidecarError(error);
  const { code, message } = known;
  log.error({ event: "failed", code, message, ...cause(known) });
  state?.write(code, { message });
  return known;
}

function printed(error: unknown, print: (text: string) => void): SidecarError {
  const known = asSidecarError(error);
  for (const problem of known.message.split("; ")) print(`PROBLEM  settings       ${problem}\n`);
  return known;
}

function asSidecarError(error: unknown): SidecarError {
  if (error instanceof SidecarError) return error;
  const name = error instanceof Error ? errnoOf(error) || error.name : typeof error;
  return new SidecarError("volume_unusable", `unexpected failure: ${name}`, { cause: error });
}

/** Where an unexpected failure came from, for the one who mends it. */
function cause({ cause: inner }: SidecarError): { stack?: string } {
  return inner instanceof Error && errnoOf(inner) === "" && inner.stack !== undefined
    ? { stack: inner.stack }
    : {};
}

function usage(problem: string): SidecarError {
  return new SidecarError("config_invalid", `${problem}; see wfvar-sidecar --help`);
}

const commandHelp = {
  prefill: "before the agent, fills the volume with what the step may see",
  pack: "beside the agent, waits for its end, packs its folder, delivers it once",
  status: "says where this pod's step stands: kubectl exec POD -c SIDECAR -- … status",
  doctor: "checks settings, volume, token and control plane, and says what to mend",
  inject:
    "adds volume, prefill, sidecar and entrypoint to a Kubernetes manifest: inject -f job.yaml",
} as const satisfies Record<keyof typeof inPod | keyof typeof atDesk | "inject", string>;

const onlyWaiting = [
  "deadline",
  "startDeadlineMs",
  "podGraceMs",
  "deliveryReserveMs",
  "linger",
] as const;
const onlyPrefill = ["installKit", "kitDir", "prefillTimeoutMs"] as const;
const onlyLimits = ["maxValueBytes", "maxStepBytes", "maxStepFiles", "maxStepEntries"] as const;

/** All commands take all settings, so that a pod's environment serves each; these change nothing for one. */
const unusedBy = {
  prefill: [...onlyWaiting, ...onlyLimits],
  pack: onlyPrefill,
  status: [...onlyWaiting, ...onlyPrefill, "logLevel", "caFile", "proxy", "traceparent"],
  doctor: [...onlyWaiting, ...onlyLimits, ...onlyPrefill, "logLevel", "terminationLog"],
} as const satisfies Record<
  Exclude<keyof typeof commandHelp, "inject">,
  readonly (keyof typeof sidecarSettings)[]
>;

const shutdownNotes = `
  When the pod is stopped there are G = --pod-grace seconds from SIGTERM. The sidecar then
    - waits for an agent that is still connected until --delivery-reserve is left of G, and not at all for one that is gone,
    - packs, and delivers until 2 s before the end of G. SIGTERM never stops a delivery; it only sets this end.
  As a plain container beside the agent, choose  preStop + agent grace + finalize + 1 s  ≤  G − reserve,
  with a reserve of 3 s and the time that a delivery may take: G = 60s and a reserve of 15s are a good start.
  As a native sidecar (--linger) it gets SIGTERM after the agent, with what is left of G:
  G ≥ preStop + agent grace + finalize + 5 s + the time that a delivery may take.
  Without SIGTERM a delivery goes on until --deadline and G are over.
`;

const help = `wfvar-sidecar ${version}: carries a step's variables between its pod and the control plane

${Object.entries(commandHelp)
  .map(([name, text]) => `  wfvar-sidecar ${name.padEnd(8)} ${text}\n`)
  .join("")}
  wfvar-sidecar SUBCOMMAND --help lists the flags; each is also an environment variable: --cp-url is WFVAR_CP_URL
  Exit codes: 0 delivered or well, 2 configuration, 10 refused by the control plane for good, or its answer is of no use,
  11 not delivered in time, 12 failure of this machine
`;

import { suggest } from "../../contract/nearest-name.ts";
import { version } from "../../contract/version.ts";
import { ApiError } from "../api-error.ts";
import { backupCommand } from "./backup-command.ts";
import { doctorCommand } from "./doctor-command.ts";
import { InvalidWorkflow } from "./run-arguments.ts";
import { runCommand, type RunCommandDeps } from "./run-command.ts";
import { serveCommand } from "./serve-command.ts";
import { tokenCommand } from "./token-command.ts";
import { UsageError } from "./usage-error.ts";

interface Command {
  readonly about: string;
  /** Gives the exit code. */
  readonly run: (argv: readonly string[], deps: RunCommandDeps) => Promise<number>;
}

const commands: Readonly<Record<string, Command>> = {
  serve: {
    about: "the control plane over HTTP, until SIGTERM or SIGINT",
    run: async (argv, deps) => {
      await serveCommand(argv, deps);
      return 0;
    },
  },
  run: { about: "runs a workflow on this machine: run FILE.dot", run: runCommand },
  token: {
    about: "makes, shows and rotates what opens the calls",
    run: async (argv, deps) => {
      await tokenCommand(argv, { ...deps, now: () => new Date() });
      return 0;
    },
  },
  backup: {
    about: "copies the SQLite database while it is in use: backup FILE",
    run: async (argv, deps) => {
      await backupCommand(argv, deps);
      return 0;
    },
  },
  doctor: {
    about: "checks what serve needs, and says what to mend",
    run: async (argv, deps) => ((await doctorCommand(argv, deps)) ? 0 : 1),
  },
  conformance: {
    about: "proves the step calls of any control plane against the contract",
    run: async (argv, deps) => {
      // Loaded only here: `serve` does without its weight.
      const { conformanceCommand } = await import("./conformance-command.ts");
      return (await conformanceCommand(argv, deps)) ? 0 : 1;
    },
  },
};

const help = `wfvar-cp ${version}: the control plane of workflow variables

${Object.entries(commands)
  .map(([name, { about }]) => `  wfvar-cp ${name.padEnd(12)} ${about}\n`)
  .join("")}
  wfvar-cp SUBCOMMAND --help lists the flags, and what the exit codes mean
`;

/** Runs one call and gives its exit code; a user's mistake is one line on stderr. */
export async function wfvarCp(argv: readonly string[], deps: RunCommandDeps): Promise<number> {
  try {
    return await runSubcommand(argv, deps);
  } catch (error) {
    if (error instanceof UsageError) {
      for (const problem of error.problems) deps.err.write(`wfvar-cp: ${problem}\n`);
      return 2;
    }
    if (error instanceof ApiError) {
      deps.err.write(`wfvar-cp: ${error.code}: ${error.message}\n`);
      return 2;
    }
    if (!(error instanceof InvalidWorkflow)) throw error;
    deps.err.write(error.message);
    return 1;
  }
}

async function runSubcommand(
  [name, ...argv]: readonly string[],
  deps: RunCommandDeps,
): Promise<number> {
  if (name === undefined) throw new UsageError(["name a subcommand; see wfvar-cp --help"]);
  if (name === "--version") return say(`${version}\n`, deps);
  const [about] = argv;
  if (name === "help" && about !== undefined) return runSubcommand([about, "--help"], deps);
  if (name === "--help" || name === "-h" || name === "help") return say(help, deps);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined) return command.run(argv, deps);
  const names = Object.keys(commands);
  throw new UsageError([
    `unknown subcommand ${name}${suggest(name, names)}: they are ${names.join(", ")}`,
  ]);
}

function say(text: string, { out }: RunCommandDeps): number {
  out.write(text);
  return 0;
}

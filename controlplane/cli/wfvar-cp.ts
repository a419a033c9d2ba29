import { version } from "../../contract/version.ts";
import { ApiError } from "../api-error.ts";
import { backupCommand, backupHelp } from "./backup-command.ts";
import { doctorCommand, doctorHelp } from "./doctor-command.ts";
import { conformanceHelp } from "./conformance-help.ts";
import { InvalidWorkflow, runHelp } from "./run-arguments.ts";
import { runCommand, type RunCommandDeps } from "./run-command.ts";
import { serveCommand, serveHelp } from "./serve-command.ts";
import { tokenCommand, tokenHelp } from "./token-command.ts";
import { UsageError } from "./usage-error.ts";

const help = `wfvar-cp ${version}: the control plane of workflow variables

${serveHelp}
${runHelp}
${tokenHelp}
${backupHelp}
${doctorHelp}
${conformanceHelp}`;

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
  [command, ...argv]: readonly string[],
  deps: RunCommandDeps,
): Promise<number> {
  switch (command) {
    case "serve":
      await serveCommand(argv, deps);
      return 0;
    case "run":
      return runCommand(argv, deps);
    case "token":
      await tokenCommand(argv, { ...deps, now: () => new Date() });
      return 0;
    case "backup":
      await backupCommand(argv, deps);
      return 0;
    case "doctor":
      return (await doctorCommand(argv, deps)) ? 0 : 1;
    case "conformance": {
      // Loaded only here: `serve` does without its weight.
      const { conformanceCommand } = await import("./conformance-command.ts");
      return (await conformanceCommand(argv, deps)) ? 0 : 1;
    }
    case "--version":
      deps.out.write(`${version}\n`);
      return 0;
    case "--help":
    case "-h":
    case "help":
      deps.out.write(help);
      return 0;
    case undefined:
      throw new UsageError(["name a subcommand; see wfvar-cp --help"]);
    default:
      throw new UsageError([`unknown subcommand ${command}; see wfvar-cp --help`]);
  }
}

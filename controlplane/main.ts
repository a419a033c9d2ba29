#!/usr/bin/env node
import { join } from "node:path";
import { version } from "../contract/version.ts";
import { ApiError } from "./api-error.ts";
import { InvalidWorkflow, runHelp } from "./cli/run-arguments.ts";
import { runCommand } from "./cli/run-command.ts";
import { serveCommand, serveHelp } from "./cli/serve-command.ts";
import { UsageError } from "./cli/usage-error.ts";

const controller = new AbortController();
process.on("SIGTERM", () => controller.abort());
process.on("SIGINT", () => controller.abort());

const help = `wfvar-cp ${version}: the control plane of workflow variables

${serveHelp}
${runHelp}`;

const [command, ...argv] = process.argv.slice(2);
const { env, stdout: out, stderr: err } = process;
const { signal } = controller;

try {
  switch (command) {
    case "serve":
      await serveCommand(argv, { env, out, signal });
      break;
    case "run": {
      const deps = { env, node: process.execPath, distDir: findDist(), out, err, signal };
      process.exitCode = (await runCommand(argv, deps)) ? 0 : 1;
      break;
    }
    case "--version":
      out.write(`${version}\n`);
      break;
    case undefined:
      throw new UsageError(["name a subcommand; see wfvar-cp --help"]);
    case "--help":
      out.write(help);
      break;
    default:
      throw new UsageError([`unknown subcommand ${command}; see wfvar-cp --help`]);
  }
} catch (error) {
  if (error instanceof UsageError) {
    for (const problem of error.problems) err.write(`wfvar-cp: ${problem}\n`);
    process.exitCode = 2;
  } else if (error instanceof ApiError) {
    err.write(`wfvar-cp: ${error.code}: ${error.message}\n`);
    process.exitCode = 2;
  } else if (error instanceof InvalidWorkflow) {
    err.write(error.message);
    process.exitCode = 1;
  } else {
    throw error;
  }
}

/** The folder that a build makes: this file is in it, or, run from its source, beside it. */
function findDist(): string {
  const here = import.meta.dirname;
  return here.endsWith(join("dist", "controlplane")) ? join(here, "..") : join(here, "..", "dist");
}

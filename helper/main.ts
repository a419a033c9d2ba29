#!/usr/bin/env node
import { createRequire } from "node:module";
import { runCli } from "./cli.ts";
import type { LateCommand } from "./late/late-command.ts";
import { processIo } from "./process-io.ts";
import { errnoOf, VariablesError } from "./variables-error.ts";

process.exitCode = runCli(process.argv.slice(2), processIo(process.env), loadBundle);

/** Only what the build makes, which is CommonJS, has the other bundles beside it. */
function loadBundle(name: string): LateCommand {
  const load: (file: string) => LateCommand = createRequire(__filename);
  try {
    return load(`./${name}.cjs`);
  } catch (error) {
    if (errnoOf(error) !== "MODULE_NOT_FOUND") throw error;
    throw new VariablesError(
      "io_error",
      `the kit is incomplete: lib/${name}.cjs is missing beside lib/wfvar.cjs`,
      { cause: error },
    );
  }
}

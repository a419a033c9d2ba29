#!/usr/bin/env node
import { runCli } from "./cli.ts";
import { processIo } from "./process-io.ts";

process.exitCode = runCli(process.argv.slice(2), processIo(process.env));

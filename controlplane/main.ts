#!/usr/bin/env node
import { join } from "node:path";
import type { StopReason } from "./cli/stop-reason.ts";

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`wfvar-cp needs Node 24 or later; this is ${process.versions.node}\n`);
  process.exit(2);
}

const controller = new AbortController();
for (const name of ["SIGTERM", "SIGINT"] satisfies StopReason[])
  process.on(name, () => controller.abort(name));
// Nobody reads any more, as behind `| head`: what runs is ended in order, and nothing more is said.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", () => controller.abort("unread" satisfies StopReason));

// Loaded only now: an older Node does not have what this needs.
const { wfvarCp } = await import("./cli/wfvar-cp.ts");
const usageError = 2;
const exitCode = await wfvarCp(process.argv.slice(2), {
  env: process.env,
  node: process.execPath,
  distDir: findDist(),
  out: process.stdout,
  err: process.stderr,
  signal: controller.signal,
});

process.exitCode = exitCode;
// A database that refused may hold its connection open for a minute yet; all that was to say is said.
if (exitCode === usageError) process.exit();

/** The folder that a build makes: this file is in it, or, run from its source, beside it. */
function findDist(): string {
  const here = import.meta.dirname;
  return here.endsWith(join("dist", "controlplane")) ? join(here, "..") : join(here, "..", "dist");
}

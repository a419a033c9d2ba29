import { fstatSync, readFileSync } from "node:fs";
import type { CommandIo } from "./command.ts";
import { readUpTo } from "./read-up-to.ts";
import type { Env } from "./step.ts";
import { errnoOf } from "./variables-error.ts";
import { writeAll } from "./write-all.ts";

const stdin = 0;
const stdout = 1;
const stderr = 2;

/**
 * The process's own streams by plain system calls: `process.stdout` would cost start-up time, and drops what a pipe has not
 * taken yet when the process exits.
 */
export function processIo(env: Env): CommandIo {
  return {
    env,
    rawArguments: () => readFileSync("/proc/self/cmdline"),
    stdinCarriesData: () => {
      const stats = fstatSync(stdin);
      return stats.isFIFO() || stats.isSocket() || (stats.isFile() && stats.size > 0);
    },
    readStdin: (maxBytes) => readUpTo(stdin, maxBytes),
    writeOut: (bytes) => {
      writeToReader(stdout, bytes);
    },
    writeError: (line) => {
      writeToReader(stderr, `${line}\n`);
    },
  };
}

/** A reader that has gone has what it wanted: `wfvar get report | head -1` is no failure. */
function writeToReader(fd: number, bytes: string | Uint8Array): void {
  try {
    writeAll(fd, typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  } catch (error) {
    if (errnoOf(error) !== "EPIPE") throw error;
  }
}

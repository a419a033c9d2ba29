import { fstatSync, readFileSync } from "node:fs";
import type { CommandIo } from "./command.ts";
import { readUpTo } from "./read-up-to.ts";
import type { Env } from "./step.ts";
import { usage } from "./read-words.ts";
import { errnoOf, VariablesError } from "./variables-error.ts";
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
    readStdin,
    writeOut,
    writeError: (line) => {
      try {
        writeAll(stderr, Buffer.from(`${line}\n`));
      } catch {
        // Nobody is left to tell; what the command did stands.
      }
    },
  };
}

function readStdin(maxBytes: number): Uint8Array {
  try {
    return readUpTo(stdin, maxBytes);
  } catch (error) {
    // The launcher puts a folder where stdin is closed: Node itself would put /dev/null there.
    if (errnoOf(error) === "EISDIR") throw usage("stdin is closed or a folder", "set");
    throw new VariablesError("io_error", `stdin could not be read (${errnoOf(error) ?? "?"})`, {
      cause: error,
    });
  }
}

/** A reader that has gone has what it wanted: `wfvar get report | head -1` is no failure. */
function writeOut(bytes: string | Uint8Array): void {
  try {
    writeAll(stdout, typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EPIPE") return;
    throw new VariablesError(
      "io_error",
      `stdout did not take all of the output (${errno ?? "?"}): direct it elsewhere`,
      { cause: error },
    );
  }
}

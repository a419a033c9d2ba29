import { closeSync, writeSync } from "node:fs";
import { escapeText } from "../contract/escape.ts";
import { reopenPipe } from "./own-output.ts";

const stderr = 2;

/**
 * Prints one line to stderr. Not through `process.stderr`: that would make the pipe non-blocking for the
 * agent, which shares it. Nor does it wait for a reader: a line that a full pipe does not take is given up,
 * never the step.
 */
export function printLine(line: string): void {
  const pipe = reopenPipe(stderr);
  try {
    writeSync(pipe ?? stderr, `entrypoint: ${escapeText(line)}\n`);
  } catch {
    // Nobody reads, and there is no other place to say so.
  } finally {
    if (pipe !== undefined) closeSync(pipe);
  }
}

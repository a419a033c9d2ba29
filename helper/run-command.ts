import { escapeText } from "../contract/escape.ts";
import type { Command, CommandIo } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { readWords } from "./read-words.ts";
import { toVariablesError } from "./variables-error.ts";

/** Runs a command on the arguments after its name, or prints its help, and gives the exit code (WV-14). */
export function runCommand(
  name: string,
  command: Command,
  argv: readonly string[],
  io: CommandIo,
): number {
  return reporting(io, () => {
    const words = readWords(name, argv, command.syntax);
    if (words !== undefined) return command.run(words, io);
    io.writeOut(command.help);
    return 0;
  });
}

/**
 * Every failure is one line on stderr, `wfvar: <code>: <what, which, limit, what to do>`, which never holds a
 * value, and the exit code that belongs to its code.
 */
export function reporting(io: Pick<CommandIo, "writeError">, run: () => number): number {
  try {
    return run();
  } catch (error) {
    const { code, message } = toVariablesError(error);
    io.writeError(`wfvar: ${code}: ${escapeText(message)}`);
    return exitCodes[code];
  }
}

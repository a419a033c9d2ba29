import { escapeText } from "../contract/escape.ts";
import { version } from "../contract/version.ts";
import type { Command, CommandIo } from "./command.ts";
import { get } from "./commands/get.ts";
import { list } from "./commands/list.ts";
import { path } from "./commands/path.ts";
import { set } from "./commands/set.ts";
import { exitCodes } from "./exit-codes.ts";
import { readWords, usage } from "./read-words.ts";
import { toVariablesError } from "./variables-error.ts";

const commands: ReadonlyMap<string, Command> = new Map(Object.entries({ get, set, list, path }));

/**
 * `wfvar` (WV-14): runs the command that the arguments after the program's name give, and returns the exit code. Every failure is one
 * line on stderr, `wfvar: <code>: <what, which, limit, what to do>`, and never holds a value.
 */
export function runCli(argv: readonly string[], io: CommandIo): number {
  try {
    run(argv, io);
    return 0;
  } catch (error) {
    const { code, message } = toVariablesError(error);
    io.writeError(`wfvar: ${code}: ${escapeText(message)}`);
    return exitCodes[code];
  }
}

function run([name, ...rest]: readonly string[], io: CommandIo): void {
  if (name === undefined) throw usage("no command");
  if (name === "--help" || name === "--version") {
    if (rest.length > 0) throw usage(`${name} stands alone`);
    io.writeOut(name === "--help" ? overview() : `wfvar ${version}\n`);
    return;
  }
  const command = commands.get(name);
  if (command === undefined) {
    throw usage(`unknown command; the commands are ${[...commands.keys()].join(", ")}`);
  }
  const words = readWords(name, rest, command.syntax);
  if (words === undefined) io.writeOut(command.help);
  else command.run(words, io);
}

function overview(): string {
  const lines = [...commands].map(([name, { summary }]) => `  ${name.padEnd(8)} ${summary}`);
  return `Usage: wfvar COMMAND [ARGUMENTS]

Reads the variables that the run and earlier steps left under /variables, and writes this step's own.

${lines.join("\n")}

  wfvar COMMAND --help    what a command takes
  wfvar --version

Exit codes: 0 ok, 1 not found, 2 bad key, value or words, 3 over a size limit, 4 write outside the own step, 5 the environment.
`;
}

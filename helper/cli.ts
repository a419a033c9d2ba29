import { suggest } from "../contract/nearest-name.ts";
import { version } from "../contract/version.ts";
import type { CommandIo, ListedCommand } from "./command.ts";
import { get } from "./commands/get.ts";
import { list } from "./commands/list.ts";
import { path } from "./commands/path.ts";
import { set } from "./commands/set.ts";
import { unset } from "./commands/unset.ts";
import { lateCommands, type LateCommand } from "./late/late-command.ts";
import { usage } from "./read-words.ts";
import { reporting, runCommand } from "./run-command.ts";

const commands: ReadonlyMap<string, ListedCommand> = new Map(
  Object.entries({ get, set, unset, list, path }),
);

const helpWords: ReadonlySet<string> = new Set(["--help", "-h", "help"]);

/**
 * `wfvar` (WV-14): runs the command that the arguments after the program's name give, and returns the exit
 * code. `load` gives a command that has its own bundle. Failures are reported as `reporting` does.
 */
export function runCli(
  argv: readonly string[],
  io: CommandIo,
  load: (name: string) => LateCommand,
): number {
  return reporting(io, () => {
    const [name, ...rest] = argv;
    if (name === undefined) throw usage("no command");
    const [about] = rest;
    if (name === "help" && about !== undefined && !about.startsWith("-"))
      return runCli([about, "--help", ...rest.slice(1)], io, load);
    if (helpWords.has(name) || name === "--version") {
      if (rest.length > 0) throw usage(`${name} stands alone`);
      io.writeOut(name === "--version" ? `wfvar ${version}\n` : overview());
      return 0;
    }
    const command = commands.get(name);
    if (command !== undefined) return runCommand(name, command, rest, io);
    if (lateCommands.has(name)) return load(name).run(rest, io);
    throw unknown(name);
  });
}

function unknown(name: string): Error {
  const names = [...commands.keys(), ...lateCommands.keys()];
  const nearest = suggest(name, [...names, "--help", "--version"]);
  return usage(`unknown command${nearest}; the commands are ${names.join(", ")}`);
}

function overview(): string {
  const summaries = [...commands].map(([name, { summary }]) => [name, summary] as const);
  const lines = [...summaries, ...lateCommands].map(
    ([name, summary]) => `  ${name.padEnd(8)} ${summary}`,
  );
  return `Usage: wfvar COMMAND [ARGUMENTS]

Reads the variables that the run and earlier steps left under /variables, and writes this step's own.

${lines.join("\n")}

  wfvar COMMAND --help    what a command takes
  wfvar --version

Exit codes: 0 ok, 1 not found, 2 bad key, value or words, 3 over a size limit, 4 write outside the own step, 5 the environment.
`;
}

import { formatBrief } from "../brief.ts";
import type { Command } from "../command.ts";
import { runCommand } from "../run-command.ts";
import { withStep } from "../step.ts";
import type { LateCommand } from "./late-command.ts";

/** `wfvar brief`: what an agent must know of its step, for its own context (WV-14). */
export const run: LateCommand["run"] = (argv, io) => runCommand("brief", brief, argv, io);

const brief: Command = {
  help: `Usage: wfvar brief

Prints Markdown for an agent's own context: which step of which run it is, what it can read now, what it must hand off, how to
read and write, and what not to do. Keys and sizes, no values.
`,
  syntax: { flags: {}, minWords: 0, maxWords: 0 },
  run(_words, io) {
    io.writeOut(withStep(io.env, formatBrief));
    return 0;
  },
};

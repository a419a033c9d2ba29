import type { ListedCommand } from "../command.ts";
import { withStep } from "../step.ts";

/** `wfvar path`: the own folder, for tools that write files themselves (WV-14). */
export const path: ListedCommand = {
  summary: "print the path of this step's own folder",
  help: `Usage: wfvar path

Prints the path of this step's own folder and a newline. A file \`VERDICT\` there is the key \`verdict\`.
`,
  syntax: { flags: {}, minWords: 0, maxWords: 0 },
  run(_words, io) {
    io.writeOut(`${withStep(io.env, ({ self }) => self)}\n`);
    return 0;
  },
};

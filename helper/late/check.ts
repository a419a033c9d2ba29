import { checkStep } from "../check/check-step.ts";
import { formatReport } from "../check/format-report.ts";
import type { Command } from "../command.ts";
import { runCommand } from "../run-command.ts";
import { withStep } from "../step.ts";
import type { LateCommand } from "./late-command.ts";

/** `wfvar check`: what would be collected, rejected and missed if the step ended now (WV-14). */
export const run: LateCommand["run"] = (argv, io) => runCommand("check", check, argv, io);

const check: Command = {
  help: `Usage: wfvar check [--json]

Goes through this step's own folder by the rules it will be collected by, and changes nothing. Says which values are accepted,
which files are rejected or passed over and what to do about each, and which declared outputs are missing.

  --json   one object: step, ok, accepted, rejected, skipped, outputs

Exit codes: 0 all is well, 1 something is rejected or a required output is missing, 2 bad words, 5 no usable /variables.
`,
  syntax: { flags: { "--json": "alone" }, minWords: 0, maxWords: 0 },
  run({ flags }, io) {
    const report = withStep(io.env, checkStep);
    io.writeOut(flags.has("--json") ? `${JSON.stringify(report)}\n` : formatReport(report));
    return report.ok ? 0 : 1;
  },
};

import type { ListedCommand } from "../command.ts";
import { listKeys } from "../keys.ts";

/** `wfvar list`: keys, one a line or as JSON (WV-14). */
export const list: ListedCommand = {
  summary: "list keys",
  help: `Usage: wfvar list [PREFIX] [--all] [--json]

Lists this step's own keys, one a line, sorted. With PREFIX (\`plan.\`, in any case) every visible key that starts so: own ones as
\`verdict\`, others in full. Whatever is listed, \`wfvar get\` finds.

  --all    every visible key
  --json   an array of {"key": …, "size": bytes}
`,
  syntax: { flags: { "--all": "alone", "--json": "alone" }, minWords: 0, maxWords: 1 },
  run({ words: [prefix], flags }, io) {
    const listed = listKeys(io.env, prefix ?? (flags.has("--all") ? "" : undefined));
    io.writeOut(
      flags.has("--json")
        ? `${JSON.stringify(listed)}\n`
        : listed.map(({ key }) => `${key}\n`).join(""),
    );
    return 0;
  },
};

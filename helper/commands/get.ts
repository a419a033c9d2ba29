import { argumentBytes } from "../argument-bytes.ts";
import type { CommandIo, ListedCommand } from "../command.ts";
import { findValue, loadValue } from "../load.ts";

/** `wfvar get`: the exact bytes, nothing added (WV-14). */
export const get: ListedCommand = {
  summary: "print a value, exactly its bytes",
  help: `Usage: wfvar get KEY [--default V]

Prints the value's exact bytes, with no newline added. KEY is in any case: \`verdict\` is this step's own, \`plan.summary\` is of
step \`plan\`, \`workflow.item.title\` is an input. An own key comes before another step's.

  --default V   print V where the key does not exist

Exit codes: 0 printed, 1 not found, 2 bad key or value, 3 over the size limit, 5 no usable /variables.
`,
  syntax: { flags: { "--default": "with-word" }, minWords: 1, maxWords: 1 },
  run({ words: [key = ""], flags }, io) {
    io.writeOut(valueOr(key, flags.get("--default"), io));
    return 0;
  },
};

function valueOr(key: string, fallback: string | undefined, io: CommandIo): Uint8Array {
  if (fallback === undefined) return loadValue(io.env, key).bytes;
  return findValue(io.env, key)?.bytes ?? argumentBytes(fallback, io);
}

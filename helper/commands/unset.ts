import type { ListedCommand } from "../command.ts";
import { unsetValue } from "../unset.ts";

/** `wfvar unset`: takes a value back before the step ends (WV-14). */
export const unset: ListedCommand = {
  summary: "remove a value from this step's own folder",
  help: `Usage: wfvar unset [-q] KEY

Removes the value of KEY, in any case, from this step's own folder: every file that spells it. Other steps' values and inputs
cannot be removed.

  -q   do not say what was removed

Exit codes: 0 removed, 1 not found, 2 bad key or words, 4 not this step's to write, 5 no usable /variables.
`,
  syntax: { flags: { "-q": "alone" }, minWords: 1, maxWords: 1 },
  run({ words: [key = ""], flags }, io) {
    const full = unsetValue(io.env, key);
    if (!flags.has("-q")) io.writeError(`${full}: removed`);
    return 0;
  },
};

import { argumentBytes } from "../argument-bytes.ts";
import { checkedKey } from "../checked-key.ts";
import type { CommandIo, ListedCommand, Words } from "../command.ts";
import { extensionSign } from "../extension-sign.ts";
import { manglingSigns } from "../mangling-signs.ts";
import { fullKey } from "../own-prefix.ts";
import { ownSegments } from "../own-segments.ts";
import { readInputFile } from "../read-input-file.ts";
import { usage } from "../read-words.ts";
import { saveValue } from "../save.ts";
import { sizeText } from "../size-text.ts";
import { withStep } from "../step.ts";
import { checkReadSize, decodeValue } from "../value.ts";

/** `wfvar set`: stores exactly the bytes given (WV-14). */
export const set: ListedCommand = {
  summary: "store a value in this step's own folder",
  help: `Usage: wfvar set [-q] KEY VALUE
       wfvar set [-q] KEY --file F
       wfvar set [-q] KEY --stdin

Stores exactly the bytes given, with no newline added or removed, in this step's own folder; replaces what the key holds. The
value must be UTF-8. For text of several lines or with quotes, backslashes or \`!\` in it, use --file or --stdin: shells change it.

  --file F   the bytes of a regular file
  --stdin    the bytes of stdin
  -q         do not say what was stored
  --         what follows is literal, even --stdin

Exit codes: 0 stored, 2 bad key, value or words, 3 over a size limit, 4 not this step's to write, 5 no usable /variables or disk full.
`,
  syntax: {
    flags: { "--file": "with-word", "--stdin": "alone", "-q": "alone" },
    minWords: 1,
    maxWords: 2,
    literalFrom: 1,
  },
  run(words, io) {
    const bytes = readValue(words, io);
    const [key = "", argument] = words.words;
    const saved = saveValue(io.env, key, bytes);
    const { full } = saved;
    if (!words.flags.has("-q")) {
      io.writeError(`${full}: ${sizeText(bytes.length)}`);
    }
    const extension = extensionSign(saved);
    const signs = [
      ...(extension === undefined ? [] : [`${extension} (wfvar unset ${full})`]),
      ...(argument === undefined ? [] : manglingSigns(argument)),
    ];
    for (const sign of signs) io.writeError(`wfvar: warning: ${full} ${sign}`);
    return 0;
  },
};

function readValue({ words: [key = "", argument], flags }: Words, io: CommandIo): Uint8Array {
  if (key.includes("=")) throw usage("KEY=VALUE is one word; write KEY VALUE", "set");
  const segments = checkedKey(key);
  const file = flags.get("--file");
  const sources = [argument, file, flags.get("--stdin")].filter((given) => given !== undefined);
  if (sources.length > 1) throw usage("give one of VALUE, --file and --stdin", "set");
  if (argument !== undefined) return argumentBytes(argument, io);
  if (sources.length === 0) {
    throw usage(
      io.stdinCarriesData()
        ? "no VALUE; add --stdin to store what stdin brings"
        : "no VALUE; give it, --file F or --stdin",
      "set",
    );
  }
  // Before anything is read: a producer at the other end of stdin may take long.
  const { limit, full } = withStep(io.env, (step) => ({
    limit: step.limits.max_value_bytes,
    full: fullKey(ownSegments(segments, step), step.path),
  }));
  const bytes = file === undefined ? io.readStdin(limit + 1) : readInputFile(file, limit, full);
  checkReadSize(bytes, limit, full);
  decodeValue(bytes, full);
  return bytes;
}

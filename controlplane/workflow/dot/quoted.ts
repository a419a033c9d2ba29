import { DotError } from "./dot-error.ts";
import { SourceTextBuilder, type SourceText } from "./source-text.ts";

const plain = /[^"\\]+/y;
/** A backslash and LF, CR LF or any one unit. */
const escape = /\\(?:\r\n|[^])/y;

/** What an escape stands for; every other backslash stays as it is (G-1). */
const decoded = new Map([
  ['\\"', '"'],
  ["\\\\", "\\"],
  ["\\n", "\n"],
  ["\\t", "\t"],
  ["\\\n", ""],
  ["\\\r\n", ""],
]);

/**
 * Decodes the quoted string whose opening quote stands at `start` (G-1); raw line ends belong to it.
 * `end` is past the closing quote. Throws DotError where that quote is missing.
 */
export function readQuoted(source: string, start: number): { value: SourceText; end: number } {
  const builder = new SourceTextBuilder();
  let at = start + 1;
  while (at < source.length) {
    if (source[at] === '"') return { value: builder.build(at), end: at + 1 };
    const pattern = source[at] === "\\" ? escape : plain;
    pattern.lastIndex = at;
    const [found] = pattern.exec(source) ?? [];
    if (found === undefined) break;
    const text = pattern === escape ? (decoded.get(found) ?? found) : found;
    if (text !== "") builder.append(text, at);
    at += found.length;
  }
  throw new DotError("syntax", start, "this string has no closing quote");
}

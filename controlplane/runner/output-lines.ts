import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";

/**
 * A line longer than this many UTF-16 units is given in parts: a child may write for ever without a line end.
 */
const maxLineLength = 16_384;

/**
 * Gives each line of a child's output as it comes; what is left at the end is a line too. Bytes that are not
 * UTF-8 come replaced.
 */
export function onEachLine(output: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const take = (text: string): void => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (rest.length > maxLineLength) {
      onLine(rest);
      rest = "";
    }
  };
  output.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
  output.on("end", () => {
    take(decoder.end());
    if (rest !== "") onLine(rest);
  });
}

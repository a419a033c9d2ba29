import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { escapeText } from "../../contract/escape.ts";
import type { LocatedValue } from "../load.ts";
import { textAnswer } from "./text-answer.ts";

/** Past this, a value would crowd an agent's context: it comes as its beginning and the path of its file. */
const maxWholeBytes = 16 * 1024;

/** A value as a tool's answer: the exact text, or its first 16 KiB and, apart from it, where the rest stands. */
export function valueAnswer({ bytes, text, path }: LocatedValue): CallToolResult {
  if (bytes.length <= maxWholeBytes) return textAnswer(text);
  const head = bytes.subarray(0, startOfCharacter(bytes, maxWholeBytes));
  const note = `These were the first ${String(head.length)} of ${String(bytes.length)} bytes. The whole value is the file ${escapeText(path)}: read on there, and change nothing.`;
  return textAnswer(new TextDecoder("utf-8", { ignoreBOM: true }).decode(head), note);
}

/** The last place at or before `end` where no character is cut in two. */
function startOfCharacter(bytes: Uint8Array, end: number): number {
  let start = end;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}

import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { toVariablesError } from "../variables-error.ts";

/** A tool's answer, one block for each text. */
export function textAnswer(...texts: readonly string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: "text", text })) };
}

/** What `use` answers, or its refusal: `<code>: <what, which, limit, what to do>`, never a value. */
export function answering(use: () => CallToolResult): CallToolResult {
  try {
    return use();
  } catch (error) {
    const { code, message } = toVariablesError(error);
    return { ...textAnswer(`${code}: ${message}`), isError: true };
  }
}

import { escapeText } from "../../contract/escape.ts";
import type { Position } from "./dot/line-table.ts";

/** What the validator says about a workflow file (G-5). */

/** A run with one of these does not start. */
export const errorCodes = [
  "syntax",
  "too_large",
  "start_node",
  "terminal_node",
  "bad_step_id",
  "bad_shape",
  "bad_attribute",
  "bad_inputs",
  "missing_script",
  "template_in_command",
  "edge_target",
  "unreachable",
  "dead_end",
  "not_supported",
] as const;

/** The workflow runs, but something in it does nothing. */
export const warningCodes = [
  "inert_attribute",
  "overwritten_attribute",
  "edge_never_taken",
] as const;

export type FindingCode = (typeof errorCodes)[number] | (typeof warningCodes)[number];

export interface Finding extends Position {
  readonly code: FindingCode;
  /** What is wrong and what to do; never ends in a full stop. */
  readonly message: string;
  readonly file: string;
}

const warnings: ReadonlySet<string> = new Set(warningCodes);

export function isWarning(finding: Finding): boolean {
  return warnings.has(finding.code);
}

/**
 * One `file:line:column: error code: message` per finding, each on a line of its own whatever names the file
 * holds.
 */
export function formatFindings(findings: readonly Finding[]): string {
  return findings
    .map((finding) => {
      const { file, line, column, code, message } = finding;
      const severity = isWarning(finding) ? "warning" : "error";
      const place = `${file}:${String(line)}:${String(column)}`;
      return `${escapeText(`${place}: ${severity} ${code}: ${message}`)}\n`;
    })
    .join("");
}

const maxQuotedLength = 80;

/** A name from the file, in backticks and cut to a readable length, for a message. */
export function quote(name: string): string {
  return `\`${name.length > maxQuotedLength ? `${name.slice(0, maxQuotedLength)}…` : name}\``;
}

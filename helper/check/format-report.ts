import { escapeText } from "../../contract/escape.ts";
import { maxListedIssues } from "../../contract/pack.ts";
import type { DeclaredOutput } from "../../contract/step-file.ts";
import { sizeText } from "../size-text.ts";
import type { CheckedOutput, CheckReport } from "./check-step.ts";
import type { ListedIssue, RejectedIssue } from "./issue.ts";

/** The report for a person: a line for each thing, of each sort the first 100, and a line that sums up. */
export function formatReport(report: CheckReport): string {
  const { step, accepted, rejected, skipped, outputs } = report;
  const absent = outputs.filter(({ present }) => !present);
  const lines = [
    ...some(accepted, ({ key, size }) => `accepted ${key}: ${sizeText(size)}`),
    ...some(
      rejected,
      (issue) => `rejected ${issue.path}: ${issue.code}${sizes(issue)}: ${issue.advice}`,
    ),
    ...some(skipped, ({ path, code, advice }) => `skipped ${path}: ${code}: ${advice}`),
    ...some(absent, (output) => absentLine(output)),
  ];
  const total = accepted.reduce((sum, { size }) => sum + size, 0);
  const missing = absent.filter(({ required }) => required).length;
  const summary = [
    `${String(accepted.length)} accepted (${sizeText(total)})`,
    `${String(rejected.length)} rejected`,
    `${String(skipped.length)} skipped`,
    `${String(missing)} required missing`,
  ];
  return [...lines, `step ${step}: ${summary.join(", ")}`, ""].join("\n");
}

/** `verdict (choice: approve, revise)`. Options come from the workflow's author; they are made safe to print. */
export function describeOutput({ key, kind, options }: DeclaredOutput): string {
  const choices = options === undefined ? "" : `: ${options.map(escapeText).join(", ")}`;
  return `${key} (${kind}${choices})`;
}

function absentLine(output: CheckedOutput): string {
  return output.required
    ? `missing ${describeOutput(output)}: required, set it before the step ends`
    : `absent ${describeOutput(output)}: declared and not required`;
}

function sizes({ size, limit }: ListedIssue<RejectedIssue>): string {
  const parts = [
    ...(size === undefined ? [] : [sizeText(size)]),
    ...(limit === undefined ? [] : [`the limit is ${String(limit)}`]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function some<T>(all: readonly T[], line: (one: T) => string): string[] {
  const lines = all.slice(0, maxListedIssues).map(line);
  const [first = ""] = lines;
  const more = all.length - lines.length;
  return more === 0 ? lines : [...lines, `${first.split(" ", 1).join("")} ${String(more)} more`];
}

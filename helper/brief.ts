import { escapeText } from "../contract/escape.ts";
import { isRunId } from "../contract/ids.ts";
import { compareKeys } from "../contract/key.ts";
import { isIntegerIn, type JsonObject } from "../contract/json.ts";
import type { DeclaredOutput, OutputKind } from "../contract/step-file.ts";
import { declaredOutputs } from "./declared-outputs.ts";
import { sizeText } from "./size-text.ts";
import type { Step } from "./step.ts";
import { findOthers, findOwn } from "./visible.ts";

/** Keys that the brief lists; it is read by agents whose attention is dear. */
const maxListedKeys = 100;

/**
 * What an agent must know of its step, in Markdown for its own context (WV-14): who it is, what it can read,
 * what it must hand off, how to read and write, what not to do. Made from what is on disk, and holds keys and
 * sizes, no values. Throws what listing the keys throws.
 */
export function formatBrief(step: Step): string {
  const own = findOwn(step);
  const others = findOthers(step, own.shadowing);
  const readable = [...others, ...own.found].map(({ relative, full, size }) => ({
    key: relative ?? full,
    line: keyLine(relative ?? full, size, full.startsWith(`${step.path.text}.`), step),
  }));
  readable.sort((a, b) => compareKeys(a.key, b.key));
  const outputs = declaredOutputs(step.untrustedStepFile);
  return [
    `# Workflow step ${code(step.path.text)}`,
    "",
    `You are step ${code(step.path.text)}${ofRun(step.untrustedStepFile)}. Values are plain UTF-8 files. What stands in your own folder ${code(step.self)} when you end goes to the control plane and to later steps, and nothing else does.`,
    "",
    "## What you can read now",
    "",
    ...(readable.length === 0 ? ["Nothing yet."] : some(readable.map(({ line }) => line))),
    "",
    "## What you must hand off",
    "",
    ...(outputs.length === 0
      ? ["No output is declared. Whatever you store is handed on."]
      : outputs.map(outputLine)),
    "",
    ...howTo(step, outputs[0]?.key ?? "verdict"),
  ].join("\n");
}

function howTo({ self, limits }: Step, example: string): string[] {
  const segments = example.split(".");
  const file = [...segments.slice(0, -1), (segments.at(-1) ?? "").toUpperCase()].join("/");
  return [
    "## How to read and write",
    "",
    `- Read: the tool \`get_variable\` if you have it, else \`wfvar get KEY\`. Keys ignore case.`,
    `- Write, safest first: the tool \`set_variable\` if you have it; your file-writing tool, to ${code(`${self}/${file}`)} for the key ${code(example)}; \`wfvar set KEY --file F\`.`,
    "- `wfvar set KEY VALUE` is for a single word alone: shells change `!`, `$`, quotes and line ends.",
    "- A key is letters, digits, `-`, `_`; a dot makes a folder, so names have no extension. Bytes are kept exactly, a final newline included.",
    `- A value has at most ${String(limits.max_value_bytes)} bytes, all together ${String(limits.max_step_bytes)} in ${String(limits.max_step_files)} files.`,
    "- Before you end, run the tool `check` or `wfvar check`: it says what would be rejected and what is missing.",
    "",
    "## What not to do",
    "",
    `- Write nothing outside your own folder, above all not \`.done\`: the entrypoint writes that when you have ended.`,
    "- Leave no links, pipes or other special files: they are never read.",
    "- Call no control plane, and put no values into environment variables or prompts.",
    "",
  ];
}

function keyLine(key: string, size: number, isOwn: boolean, { limits }: Step): string {
  const limit = limits.max_value_bytes;
  const excess = size > limit ? `, over the limit of ${String(limit)}: no one can read it` : "";
  return `- ${code(key)}: ${sizeText(size)}${isOwn ? ", your own" : ""}${excess}`;
}

function outputLine(output: DeclaredOutput): string {
  return `- ${code(output.key)}, ${output.required ? "required" : "if you have it"}: ${kindTexts[output.kind](output.options)}`;
}

const kindTexts: Readonly<Record<OutputKind, (options?: readonly string[]) => string>> = {
  text: () => "text",
  choice: (options) =>
    options === undefined ? "one line of text" : `one of ${options.map(code).join(", ")}`,
  json: () => "a JSON object or array",
  number: () => "a number",
  bool: () => "`true` or `false`",
};

/** Run and attempt as `.step` has them; what is not one is left out. */
function ofRun({ run, attempt }: JsonObject): string {
  const runText = typeof run === "string" && isRunId(run) ? ` of run ${code(run)}` : "";
  return isIntegerIn(attempt, 1, Number.MAX_SAFE_INTEGER)
    ? `${runText}, attempt ${String(attempt)}`
    : runText;
}

/** A code span that the text cannot end: its fence is longer than any in the text. */
function code(text: string): string {
  const safe = escapeText(text);
  const runs = safe.match(/`+/g) ?? [];
  if (runs.length === 0) return `\`${safe}\``;
  const fence = "`".repeat(Math.max(...runs.map(({ length }) => length)) + 1);
  return `${fence} ${safe} ${fence}`;
}

function some(lines: readonly string[]): string[] {
  const more = lines.length - maxListedKeys;
  return more <= 0
    ? [...lines]
    : [...lines.slice(0, maxListedKeys), `- and ${String(more)} more: \`wfvar list --all\``];
}

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { version } from "../../contract/version.ts";
import { formatBrief } from "../brief.ts";
import { checkStep } from "../check/check-step.ts";
import { formatReport } from "../check/format-report.ts";
import { extensionSign } from "../extension-sign.ts";
import { listKeys } from "../keys.ts";
import { locateValue } from "../load.ts";
import { saveValue } from "../save.ts";
import { sizeText } from "../size-text.ts";
import { withStep, type Env } from "../step.ts";
import { unsetValue } from "../unset.ts";
import { encodeValue } from "../value.ts";
import { toVariablesError } from "../variables-error.ts";
import { answering, textAnswer } from "./text-answer.ts";
import { tool, type Tool } from "./tool.ts";
import { valueAnswer } from "./value-answer.ts";

/** Keys that one answer lists. */
const maxListedKeys = 500;

const key = z
  .string()
  .describe("For example verdict, findings.high, plan.summary or workflow.item.title; in any case");

/**
 * The step's variables as tools of the Model Context Protocol (WV-14), with the brief as instructions. Each
 * call reads the volume anew. Where there is no step, the server still answers, and every tool says so.
 */
export function createServer(env: Env): Server {
  const tools = toolsOf(env);
  const server = new Server(
    { name: "wfvar", version },
    { capabilities: { tools: {} }, instructions: instructions(env) },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ definition }) => definition),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const called = tools.find(({ definition }) => definition.name === params.name);
    return called === undefined
      ? { ...textAnswer("usage: there is no such tool: list the tools"), isError: true }
      : answering(() => called.call(params.arguments ?? {}));
  });
  return server;
}

function toolsOf(env: Env): readonly Tool[] {
  return [
    tool(
      "get_variable",
      "Reads a workflow variable: one of this step's own, an earlier step's, or an input of the run. Gives exactly its text; of a value over 16 KiB the beginning, and the path of its file.",
      z.strictObject({ key }),
      { readOnlyHint: true, openWorldHint: false },
      (input) => valueAnswer(locateValue(env, input.key)),
    ),
    tool(
      "set_variable",
      "Stores a text as an output of this step, exactly as given, no newline added; replaces what the key holds. Later steps and the control plane get it when this step has ended.",
      z.strictObject({ key, value: z.string().describe("The whole value; JSON as a string") }),
      { destructiveHint: false, idempotentHint: true, openWorldHint: false },
      (input) => textAnswer(...store(env, input.key, input.value)),
    ),
    tool(
      "list_variables",
      "Lists the variables that this step can read, with their sizes in bytes: own ones as verdict, others in full.",
      z.strictObject({
        prefix: z.string().optional().describe("Only keys that start so, for example plan."),
      }),
      { readOnlyHint: true, openWorldHint: false },
      (input) => textAnswer(listing(env, input.prefix ?? "")),
    ),
    tool(
      "unset_variable",
      "Removes an output that this step stored.",
      z.strictObject({ key }),
      { destructiveHint: true, idempotentHint: true, openWorldHint: false },
      (input) => textAnswer(`${unsetValue(env, input.key)}: removed`),
    ),
    tool(
      "check",
      "Says what would be delivered if this step ended now: which values are accepted, which files are rejected and what to do about each, which declared outputs are missing. Call it before you end.",
      z.strictObject({}),
      { readOnlyHint: true, openWorldHint: false },
      () => textAnswer(formatReport(withStep(env, checkStep))),
    ),
  ];
}

function instructions(env: Env): string {
  try {
    return withStep(env, formatBrief);
  } catch (error) {
    const { code, message } = toVariablesError(error);
    return `The variables of this workflow step cannot be read: ${code}: ${message}`;
  }
}

/** What was stored, and what may be wrong with it. */
function store(env: Env, untrustedKey: string, value: string): string[] {
  const bytes = encodeValue(value);
  const saved = saveValue(env, untrustedKey, bytes);
  const sign = extensionSign(saved);
  const size = `${saved.full}: ${sizeText(bytes.length)}`;
  return sign === undefined
    ? [size]
    : [size, `warning: ${saved.full} ${sign} (unset_variable ${saved.full})`];
}

function listing(env: Env, prefix: string): string {
  const listed = listKeys(env, prefix);
  const lines = listed.slice(0, maxListedKeys).map((one) => `${one.key}: ${sizeText(one.size)}`);
  const more = listed.length - lines.length;
  if (more > 0) lines.push(`and ${String(more)} more: give a prefix`);
  return lines.length === 0 ? "no variables" : lines.join("\n");
}

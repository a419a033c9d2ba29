import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { describeSettings, readSettings, type SettingValues } from "../../contract/settings.ts";
import { runSettings } from "../config.ts";
import { bindInputs } from "../workflow/bind-inputs.ts";
import { formatFindings } from "../workflow/finding.ts";
import type { WorkflowGraph } from "../workflow/graph.ts";
import { readWorkflow } from "../workflow/read-workflow.ts";
import { whyFailed } from "./errno-words.ts";
import { UsageError } from "./usage-error.ts";

export interface RunArguments {
  readonly settings: SettingValues<typeof runSettings>;
  readonly graph: WorkflowGraph;
  /** The workflow's name: the graph's, else the file's. */
  readonly template: string;
  /** The folder of the DOT file, absolute. */
  readonly workflowDir: string;
  readonly inputs: ReadonlyMap<string, string>;
  /** Findings that do not prevent the run, one line each. */
  readonly warnings: string;
}

/** The DOT file does not validate: the findings, one line each. Exit code 1. */
export class InvalidWorkflow extends Error {
  override readonly name = "InvalidWorkflow";
}

export type ParsedRun =
  | { readonly show: "help" | "version" }
  | { readonly show: undefined; readonly run: RunArguments };

/**
 * Reads the command line and the files that it names. Throws UsageError with every problem at once, or
 * InvalidWorkflow.
 */
export async function parseRunArguments(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ParsedRun> {
  const problems: string[] = [];
  const { pairs, rest } = takeInputs(argv, problems);
  const read = readSettings(runSettings, rest, env, ["--input"]);
  if (read.help) return { show: "help" };
  if (read.version) return { show: "version" };
  problems.push(...read.problems);
  const [file, ...extra] = read.words;
  if (file === undefined) problems.push("name the workflow's DOT file: wfvar-cp run FILE.dot");
  if (extra.length > 0) problems.push(`one DOT file at a time; not also ${extra.join(" ")}`);
  if (file === undefined || problems.length > 0) throw new UsageError(problems);

  const workflow = readWorkflow(await readText(file, "the workflow"), file);
  if ("findings" in workflow) throw new InvalidWorkflow(formatFindings(workflow.findings));
  const { graph, warnings } = workflow;
  const bound = bindInputs(graph.inputs, await readValues(pairs));
  if ("problems" in bound) throw new UsageError(bound.problems);
  return {
    show: undefined,
    run: {
      settings: read.values,
      graph,
      template: graph.name ?? basename(file, ".dot"),
      workflowDir: dirname(resolve(file)),
      inputs: bound.values,
      warnings: formatFindings(warnings),
    },
  };
}

export const runHelp = `wfvar-cp run FILE.dot [--input NAME=VALUE]... [flags]: runs a workflow on this machine

  --input NAME=VALUE             a value for a declared input; NAME=@FILE takes the file's text
${describeSettings(runSettings)}

  Each step runs over a folder of its own, with the shipped entrypoint and sidecar beside it. Scripts run in the
  current folder, with \`wfvar\` on PATH; WORKFLOW_FILE_DIR is the folder of FILE.dot, WORKFLOW_KIT_DIR what images have at /opt/agent.
  Exit codes: 0 the run succeeded, 1 it failed or the workflow is not valid, 2 the command line is wrong, 130 or 143 after SIGINT or SIGTERM
`;

/** Takes `--input NAME=VALUE` and `--input=NAME=VALUE` out of the words. */
function takeInputs(
  argv: readonly string[],
  problems: string[],
): { pairs: ReadonlyMap<string, string>; rest: readonly string[] } {
  const pairs = new Map<string, string>();
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i += 1) {
    const word = argv[i] ?? "";
    const isFlag = word === "--input";
    if (!isFlag && !word.startsWith("--input=")) {
      rest.push(word);
      continue;
    }
    const pair = isFlag ? (argv[(i += 1)] ?? "") : word.slice("--input=".length);
    const equals = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, equals));
    if (equals < 1) problems.push("--input takes NAME=VALUE");
    else if (pairs.has(name)) problems.push(`the input \`${name}\` is given twice`);
    else pairs.set(name, pair.slice(equals + 1));
  }
  return { pairs, rest };
}

async function readValues(pairs: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    const text = value.startsWith("@")
      ? await readText(value.slice(1), `the input \`${name}\``)
      : value;
    values.set(name, text);
  }
  return values;
}

async function readText(file: string, what: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new UsageError([`${what}: ${file} cannot be read: ${whyFailed(error)}`]);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError([`${what}: ${file} is not UTF-8`]);
  }
}

import { suggest } from "../../contract/nearest-name.ts";
import { offsetAt, type SourceText } from "./dot/source-text.ts";
import type { DotAttribute, DotAttributes } from "./dot/dot-graph.ts";
import { drawingAttributes } from "./drawing-attributes.ts";
import type { FindingList } from "./finding-list.ts";
import { quote } from "./finding.ts";
import { elementNames, knownAttributes, notBuilt, type Element } from "./vocabulary.ts";

/**
 * Checks the attributes of one element by name (G-5): those that this version does not run are errors, those
 * that mean nothing are warnings, and no value may hold a template, which only prompts are (G-3). The values'
 * own meaning is checked where they are read.
 */
export function checkAttributes(
  element: Element,
  attributes: DotAttributes,
  findings: FindingList,
): void {
  for (const [name, attribute] of attributes) {
    // What a subgraph inherits was checked on the graph around it.
    if (element === "subgraph" && attribute.inherited) continue;
    if (name !== "prompt") checkTemplates(attribute.value, findings);
    // Defaults for all nodes reach the start and the exit, too, and are meant for the steps.
    const meant = element === "marker" && attribute.inherited ? "script" : element;
    if (knownAttributes[meant].has(name)) checkOverwritten(name, attribute, findings);
    else checkOther(meant, name, attribute, findings);
  }
}

function checkOther(
  element: Element,
  name: string,
  { value, nameOffset }: DotAttribute,
  findings: FindingList,
): void {
  const planned = notBuilt[element].get(name);
  if (planned !== undefined) {
    if (value.text === planned.harmless) return;
    const message = `${quote(name)} on ${elementNames[element]} is not supported by this version; ${planned.instead}`;
    findings.add("not_supported", nameOffset, message);
    return;
  }
  if (drawingAttributes.has(name)) return;
  const hint = suggest(name, [...knownAttributes[element], ...notBuilt[element].keys()]);
  findings.add(
    "inert_attribute",
    nameOffset,
    `${quote(name)} means nothing on ${elementNames[element]}${hint}`,
  );
}

function checkOverwritten(
  name: string,
  { nameOffset, replaces }: DotAttribute,
  findings: FindingList,
): void {
  if (replaces === undefined) return;
  const { line, column } = findings.positionOf(replaces);
  findings.add(
    "overwritten_attribute",
    nameOffset,
    `${quote(name)} replaces another value, given at ${String(line)}:${String(column)}`,
  );
}

const template = /\{\{\s*(context|inputs|goal)(?![A-Za-z0-9_])/g;

/** What a script does instead, by what the template asked for. */
const insteadOfTemplate: ReadonlyMap<string, string> = new Map([
  ["context", "read what a step before wrote with `wfvar get STEP.KEY`"],
  ["inputs", "read an input with `wfvar get workflow.inputs.NAME`"],
  ["goal", "write the goal out, or pass it as an input"],
]);

function checkTemplates(value: SourceText, findings: FindingList): void {
  for (const found of value.text.matchAll(template)) {
    const name = found[1] ?? "";
    const instead = insteadOfTemplate.get(name) ?? "";
    findings.add(
      "template_in_command",
      offsetAt(value, found.index),
      `\`{{ ${name}\` is a template, and only prompts are: values never enter commands or attributes; ${instead}`,
    );
  }
}

import { stepIdProblem } from "../../contract/ids.ts";
import { suggest } from "../../contract/nearest-name.ts";
import { parseDurationMs } from "../../contract/quantity.ts";
import { checkAttributes } from "./check-attributes.ts";
import type { DotAttributes, DotNode } from "./dot/dot-graph.ts";
import type { Position } from "./dot/line-table.ts";
import type { FindingList } from "./finding-list.ts";
import { quote } from "./finding.ts";
import type { WorkflowNode } from "./graph.ts";
import { insteadOfKind, kindByShape, stepKinds, type StepKind } from "./step-kind.ts";

/** A node as far as it could be read: enough for the checks of the graph as a whole. */
export interface NodeReading {
  readonly id: string;
  readonly at: Position;
  /** Undefined where the file does not say, or says what no step is. */
  readonly kind: StepKind | undefined;
  /** False for a name that only edges mention (`edge_target`): nothing more is said of it. */
  readonly defined: boolean;
  /** Undefined where an error stands in `findings`. */
  readonly node: WorkflowNode | undefined;
}

/**
 * Reads one node of the DOT graph as a step (G-1). `ids` are the nodes with a statement of their own, for
 * suggestions.
 */
export function readNode(dot: DotNode, ids: Iterable<string>, findings: FindingList): NodeReading {
  const { id, attributes } = dot;
  const at = findings.positionOf(dot.statedAt ?? dot.offset);
  if (dot.statedAt === undefined && !isWholeByDefaults(attributes)) {
    const message = `${quote(id)} is only mentioned in edges${suggest(id, ids)}; give it a line of its own with a shape`;
    findings.add("edge_target", at, message);
    return { id, at, kind: undefined, defined: false, node: undefined };
  }
  const kind = readKind(dot, at, findings);
  const label = attributes.get("label")?.value.text ?? id;
  switch (kind) {
    case undefined:
      return { id, at, kind, defined: true, node: undefined };
    case "start":
    case "exit":
      checkAttributes("marker", attributes, findings);
      return { id, at, kind, defined: true, node: { kind, id, label, at } };
    case "script": {
      checkId(id, at, findings);
      checkAttributes("script", attributes, findings);
      const script = readScript(id, attributes, at, findings);
      const timeoutMs = readTimeout(attributes, findings);
      const node = script === undefined ? undefined : { kind, id, label, script, timeoutMs, at };
      return { id, at, kind, defined: true, node };
    }
    default:
      checkId(id, at, findings);
      reportNotBuilt(dot, kind, at, findings);
      return { id, at, kind, defined: true, node: undefined };
  }
}

/** `node [...]` can make a whole step of a bare mention; half a one is rather a mistyped name. */
function isWholeByDefaults(attributes: DotAttributes): boolean {
  const type = attributes.get("type")?.value.text;
  const kind = type ?? kindByShape.get(attributes.get("shape")?.value.text ?? "");
  return kind === "start" || kind === "exit" || (kind === "script" && attributes.has("script"));
}

const runKinds = stepKinds.filter((kind) => !insteadOfKind.has(kind));

function readKind(dot: DotNode, at: Position, findings: FindingList): StepKind | undefined {
  const type = dot.attributes.get("type");
  const shape = dot.attributes.get("shape");
  let kind: StepKind | undefined;
  if (type !== undefined) {
    const { text } = type.value;
    kind = stepKinds.find((one) => one === text);
    if (kind === undefined) {
      const message = `no step has the type ${quote(text)}${suggest(text, stepKinds)}; this version runs ${runKinds.join(", ")}`;
      findings.add("bad_shape", type.nameOffset, message);
    }
  } else if (shape !== undefined) {
    const { text } = shape.value;
    kind = kindByShape.get(text);
    if (kind === undefined) {
      const shapes = [...kindByShape].flatMap(([name, one]) =>
        runKinds.includes(one) ? name : [],
      );
      const message = `no step has the shape ${quote(text)}${suggest(text, shapes)}; this version runs ${shapes.join(", ")}`;
      findings.add("bad_shape", shape.nameOffset, message);
    }
  } else if (dot.attributes.has("script")) {
    const message = `${quote(dot.id)} has a \`script\` and no shape; write shape=parallelogram`;
    findings.add("bad_shape", at, message);
  } else {
    kind = "agent";
  }
  return kind === "script" && dot.attributes.has("probe") ? "probe" : kind;
}

function reportNotBuilt(
  { id, attributes }: DotNode,
  kind: StepKind,
  at: Position,
  findings: FindingList,
): void {
  const why = attributes.has("shape") || attributes.has("type") ? "" : " (for want of a shape)";
  const instead = insteadOfKind.get(kind) ?? "";
  const message = `${quote(id)} is a step of the kind \`${kind}\`${why}, which this version does not run; ${instead}`;
  findings.add("not_supported", at, message);
}

function checkId(id: string, at: Position, findings: FindingList): void {
  const problem = stepIdProblem(id);
  if (problem !== undefined) findings.add("bad_step_id", at, `${quote(id)}: ${problem}`);
}

function readScript(
  id: string,
  attributes: DotAttributes,
  at: Position,
  findings: FindingList,
): string | undefined {
  const script = attributes.get("script");
  if (script === undefined || script.value.text.trim() === "") {
    const message = `${quote(id)} is a script step without a \`script\``;
    findings.add("missing_script", script?.nameOffset ?? at, message);
    return undefined;
  }
  if (script.value.text.includes("\0")) {
    findings.add("bad_attribute", script.nameOffset, "a script cannot hold a NUL character");
    return undefined;
  }
  return script.value.text;
}

function readTimeout(attributes: DotAttributes, findings: FindingList): number | undefined {
  const timeout = attributes.get("timeout");
  if (timeout === undefined) return undefined;
  const timeoutMs = parseDurationMs(timeout.value.text);
  if (timeoutMs !== undefined && timeoutMs > 0) return timeoutMs;
  const message = 'a timeout is a duration such as "30s", "500ms", "2m" or "1h"';
  findings.add("bad_attribute", timeout.nameOffset, message);
  return undefined;
}

import { execFileSync } from "node:child_process";
import type { DotAttributes, DotGraph } from "../../../../controlplane/workflow/dot/dot-graph.ts";

/**
 * Graphviz as the oracle (G-1): what `dot -Tdot_json` reads, and our own reading brought to the same form.
 */

type Attributes = Record<string, string>;

export interface Reading {
  readonly strict: boolean;
  readonly attributes: Attributes;
  /** In order of first mention. */
  readonly nodes: readonly { id: string; attributes: Attributes }[];
  /** Sorted by ends; edges with the same ends stay in source order. */
  readonly edges: readonly { from: string; to: string; attributes: Attributes }[];
  readonly subgraphs: readonly { name: string | null; attributes: Attributes; nodes: string[] }[];
}

export const hasGraphviz = runsDot();

/** Undefined where Graphviz refuses the source. */
export function readWithGraphviz(source: string): Reading | undefined {
  let json: string;
  try {
    json = execFileSync("dot", ["-Tdot_json"], {
      input: source,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "ignore"],
    });
  } catch {
    return undefined;
  }
  if (json === "") return undefined;
  // Graphviz writes line ends and tabs inside strings as they are, which JSON does not allow.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Graphviz's own output; a wrong shape fails the comparison
  return fromJson(JSON.parse(escapeInStrings(json)) as GraphvizJson);
}

export function asReading(graph: DotGraph): Reading {
  return {
    strict: graph.strict,
    attributes: plain(graph.attributes),
    nodes: [...graph.nodes.values()].map((node) => ({
      id: node.id,
      attributes: plain(node.attributes),
    })),
    edges: sortEdges(
      graph.edges.map((edge) => ({
        from: edge.from,
        to: edge.to,
        attributes: plain(edge.attributes),
      })),
    ),
    subgraphs: sortSubgraphs(
      graph.subgraphs.map((subgraph) => ({
        name: subgraph.name ?? null,
        attributes: plain(subgraph.attributes),
        nodes: [...subgraph.nodes],
      })),
    ),
  };
}

interface GraphvizObject extends Record<string, unknown> {
  readonly _gvid: number;
  readonly name: string;
  readonly nodes?: number[];
}

interface GraphvizJson extends Record<string, unknown> {
  readonly strict: boolean;
  readonly _subgraph_cnt: number;
  readonly objects?: GraphvizObject[];
  readonly edges?: ({ _gvid: number; tail: number; head: number } & Record<string, unknown>)[];
}

function fromJson(json: GraphvizJson): Reading {
  const { objects = [], _subgraph_cnt: subgraphCount } = json;
  const subgraphs = objects.slice(0, subgraphCount);
  const nodes = objects.slice(subgraphCount);
  const nameOf = (gvid: number): string => decode(objects[gvid]?.name ?? "?");
  return {
    strict: json.strict,
    attributes: theirs(json),
    nodes: nodes.map((node) => ({ id: decode(node.name), attributes: theirs(node) })),
    edges: sortEdges(
      (json.edges ?? []).map((edge) => ({
        from: nameOf(edge.tail),
        to: nameOf(edge.head),
        attributes: theirs(edge),
      })),
    ),
    subgraphs: sortSubgraphs(
      subgraphs.map((subgraph) => ({
        name: /^%\d+$/.test(subgraph.name) ? null : decode(subgraph.name),
        attributes: theirs(subgraph),
        nodes: (subgraph.nodes ?? []).map(nameOf),
      })),
    ),
  };
}

/** Graphviz leaves `\\`, `\n` and `\t` as they are written, for its own label language. */
function decode(text: string): string {
  return text.replace(/\\([\\nt])/g, (_, char: string) =>
    char === "n" ? "\n" : char === "t" ? "\t" : "\\",
  );
}

/**
 * `name`, `nodes` and their kin stand among the attributes in Graphviz's JSON: no test uses them as attribute
 * names.
 */
const structure = new Set(
  "name directed strict objects edges nodes subgraphs tail head _gvid _subgraph_cnt".split(" "),
);

function theirs(object: Record<string, unknown>): Attributes {
  return sorted(
    Object.entries(object)
      .filter(([name]) => !structure.has(name))
      .map(([name, value]) => [decode(name), decode(String(value))] as const)
      // The default that Graphviz gives every node.
      .filter(([name, value]) => !(name === "label" && value === "\\N")),
  );
}

/** A `key` is an edge's identity to Graphviz, not an attribute. */
function plain(attributes: DotAttributes): Attributes {
  return sorted(
    [...attributes]
      .map(([name, { value }]) => [name, value.text] as const)
      .filter(([name]) => name !== "key"),
  );
}

/** An empty value and an absent one are the same to Graphviz. */
function sorted(entries: readonly (readonly [name: string, value: string])[]): Attributes {
  return Object.fromEntries(
    entries.filter(([, value]) => value !== "").toSorted(([a], [b]) => compare(a, b)),
  );
}

function sortEdges(edges: Reading["edges"]): Reading["edges"] {
  return edges.toSorted((a, b) => compare(a.from, b.from) || compare(a.to, b.to));
}

function sortSubgraphs(subgraphs: Reading["subgraphs"]): Reading["subgraphs"] {
  return subgraphs.toSorted((a, b) => compare(JSON.stringify(a), JSON.stringify(b)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function escapeInStrings(json: string): string {
  return json.replace(/"(?:[^"\\]|\\[^])*"/g, (string) =>
    string.replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r"),
  );
}

function runsDot(): boolean {
  try {
    execFileSync("dot", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

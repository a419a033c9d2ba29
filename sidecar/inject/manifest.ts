import {
  isCollection,
  isNode,
  isScalar,
  isSeq,
  parse,
  parseAllDocuments,
  Scalar,
  visit,
  type Document,
  type ToStringOptions,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { keepComments } from "./yaml-node.ts";

/**
 * A manifest's documents, twice each: as nodes for editing, and as a value for reading. The nodes know text
 * alone (`failsafe`), so that `0400`, `yes` or `~` come out as they came in; the value is read as kubectl reads
 * it, by YAML 1.1.
 */

/** Two were the most that were ever seen. */
const maxRounds = 8;

export interface ManifestDocument {
  readonly nodes: Document.Parsed;
  readonly value: unknown;
  /** As it stands in the file, its `---` included. */
  readonly source: string;
  readonly layout: ToStringOptions;
}

export interface Manifest {
  readonly documents: readonly ManifestDocument[];
  readonly problems: readonly string[];
}

export function readManifest(manifest: string): Manifest {
  const all = parseNodes(manifest);
  const values = parseDocuments(manifest, { version: "1.1" });
  const errors = [...all, ...values].flatMap((document) => document.errors.map(firstLine));
  const problems = [...new Set(errors)];
  if (problems.length > 0) return { documents: [], problems };
  // What stands between two documents, `---` and comments, is the later one's.
  const starts = [0, ...all.slice(0, -1).map(({ range }) => range[2])];
  try {
    const documents = all.map((nodes, index) => ({
      nodes,
      value: values[index]?.toJS() as unknown,
      source: manifest.slice(starts[index], starts[index + 1]),
      layout: readLayout(nodes, manifest),
    }));
    return { documents, problems };
  } catch (error) {
    // Aliases that would expand without end, and merges of what is no map.
    return { documents: [], problems: [firstLine(error)] };
  }
}

/** A document after its edit, in the layout that it had. */
export function printDocument({ nodes, source, layout }: ManifestDocument): string {
  const text = settle(write(nodes, layout));
  // kubectl takes what starts with a brace for JSON.
  if (!source.trimStart().startsWith("{")) return text;
  return `${JSON.stringify(parse(text), null, 2)}\n`;
}

function write(nodes: Document.Parsed, layout: ToStringOptions): string {
  // The library would put the document's last comment behind the dots that end it.
  const dots = nodes.directives.docEnd ? "...\n" : "";
  nodes.directives.docEnd = false;
  return nodes.toString({ lineWidth: 0, ...layout }) + dots;
}

/**
 * The library loses a blank line here and there when it reads what it wrote. Until it does not, so that a
 * second injection comes to the same.
 */
function settle(text: string): string {
  for (let before = text, round = 0; round < maxRounds; round += 1) {
    const [nodes] = parseNodes(before);
    if (nodes === undefined) break;
    const after = write(nodes, readLayout(nodes, before));
    if (after === before) return after;
    before = after;
  }
  return text;
}

function parseNodes(manifest: string): Document.Parsed[] {
  const all = parseDocuments(manifest, { schema: "failsafe" });
  for (const nodes of all) visit(nodes, { Map: (_, map) => fillGaps(map) });
  return all;
}

/**
 * `{a}` has no value at all, and `{a: }` would come out as `{a:}`, where kubectl's YAML takes the colon for a
 * part of the key.
 */
function fillGaps({ items, flow }: YAMLMap): void {
  for (const pair of items) {
    const isEmpty = isScalar(pair.value) && pair.value.type === "PLAIN" && pair.value.source === "";
    if (pair.value === null || (flow === true && isEmpty)) {
      pair.value = keepComments(pair.value, new Scalar("null"));
    }
  }
}

function parseDocuments(
  manifest: string,
  options: { readonly schema: "failsafe" } | { readonly version: "1.1" },
): Document.Parsed[] {
  const documents = parseAllDocuments(manifest, { ...options, logLevel: "silent" });
  return Array.isArray(documents) ? documents : [];
}

function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line.replace(/:$/, "");
}

/** How the document indents maps and lists, the first of each; brackets keep their padding one by one. */
function readLayout(nodes: Document.Parsed, manifest: string): ToStringOptions {
  const layout: ToStringOptions = {};
  const column = (start: number): number => start - (manifest.lastIndexOf("\n", start - 1) + 1);
  visit(nodes, {
    Pair: (_, { key, value }) => {
      if (!isNode(key) || !key.range || !isCollection(value) || !value.range) return;
      if (value.flow === true) return;
      const deeper = column(value.range[0]) - column(key.range[0]);
      if (isSeq(value)) layout.indentSeq ??= deeper > 0;
      else if (deeper > 0) layout.indent ??= deeper;
    },
    Collection: (_, collection) => {
      if (collection.flow !== true || !collection.range) return;
      keepPadding(collection, manifest[collection.range[0] + 1] === " " ? " " : "");
    },
  });
  return layout;
}

/** The library has one padding for all: `[a]` beside `{ a: b }`, which formatters write, would not stay. */
function keepPadding(collection: YAMLMap | YAMLSeq, flowCollectionPadding: string): void {
  const print = collection.toString;
  collection.toString = function padded(context, ...rest): string {
    return print.call(this, context && { ...context, flowCollectionPadding }, ...rest);
  };
}

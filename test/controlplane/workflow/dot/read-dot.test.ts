import { describe, expect, it } from "vitest";
import { dotLimits } from "../../../../controlplane/workflow/dot/dot-limits.ts";
import type { DotGraph } from "../../../../controlplane/workflow/dot/dot-graph.ts";
import { LineTable } from "../../../../controlplane/workflow/dot/line-table.ts";
import { readDot } from "../../../../controlplane/workflow/dot/read-dot.ts";
import { offsetAt } from "../../../../controlplane/workflow/dot/source-text.ts";

function read(source: string): DotGraph {
  const { graph, problems } = readDot(source);
  expect(problems).toEqual([]);
  if (graph === undefined) throw new Error("no graph and no problem");
  return graph;
}

function problemsOf(source: string): string[] {
  const lines = new LineTable(source);
  return readDot(source).problems.map(({ code, offset, message }) => {
    const { line, column } = lines.positionOf(offset);
    return `${String(line)}:${String(column)} ${code} ${message}`;
  });
}

function valueOf(source: string, node: string, name: string): string | undefined {
  return read(source).nodes.get(node)?.attributes.get(name)?.value.text;
}

function many(count: number, make: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => make(i)).join(" ");
}

describe("strings", () => {
  it.each([
    ["a quote", String.raw`"say \"hi\""`, 'say "hi"'],
    ["a backslash", String.raw`"C:\\new"`, "C:\\new"],
    ["a line end and a tab", String.raw`"a\nb\tc"`, "a\nb\tc"],
    ["a joined line", '"one \\\ntwo"', "one two"],
    ["a joined line that ends in CR LF", '"one \\\r\ntwo"', "one two"],
    ["every other backslash as it is", String.raw`"\l\d+\$x\r"`, String.raw`\l\d+\$x\r`],
    ["raw line ends", '"one\n\n two"', "one\n\n two"],
    ["a lone line end, which Graphviz loses", '"\n"', "\n"],
    ["joined strings", '"a\\"" + /* c */ "b"', 'a"b'],
    ["nothing", '""', ""],
  ])("G-1 decodes %s", (_, written, decoded) => {
    expect(valueOf(`digraph { a [x=${written}] }`, "a", "x")).toBe(decoded);
  });

  it("G-1 knows for every decoded character where it stands in the source", () => {
    const source = 'digraph { a [x="p\\"q\\\nr" + /* gap */ "" + "s\\nt"] }';
    const value = read(source).nodes.get("a")?.attributes.get("x")?.value;
    if (value === undefined) throw new Error("no value");
    expect(value.text).toBe('p"qrs\nt');
    for (const [i, char] of value.text.split("").entries()) {
      const written = source.slice(offsetAt(value, i));
      const escaped = { '"': '\\"', "\n": "\\n" }[char] ?? char;
      expect(written.startsWith(escaped)).toBe(true);
    }
    expect(source.slice(offsetAt(value, value.text.length))).toBe('"] }');
  });
});

describe("positions", () => {
  it("gives lines and columns from 1, past a byte order mark and CR LF", () => {
    const source = "\ufeffdigraph {\r\n  a -> b\r\n  b [x=1]\r\n}";
    const lines = new LineTable(source);
    const graph = read(source);
    expect(lines.positionOf(graph.offset)).toEqual({ line: 1, column: 1 });
    expect(lines.positionOf(graph.edges[0]?.offset ?? 0)).toEqual({ line: 2, column: 5 });
    const b = graph.nodes.get("b");
    expect(lines.positionOf(b?.offset ?? 0)).toEqual({ line: 2, column: 8 });
    expect(lines.positionOf(b?.statedAt ?? 0)).toEqual({ line: 3, column: 3 });
    expect(lines.positionOf(b?.attributes.get("x")?.nameOffset ?? 0)).toEqual({
      line: 3,
      column: 6,
    });
  });

  it("tells a node's own statement from a mention in an edge", () => {
    const { nodes } = read("digraph { a -> b; b; b [x=1] }");
    expect(nodes.get("a")?.statedAt).toBeUndefined();
    expect(nodes.get("b")).toMatchObject({ offset: 15, statedAt: 18 });
  });

  it("tells own attributes from inherited ones, and remembers what a value replaced", () => {
    const { nodes } = read("digraph { node [x=1, y=1]; a [x=2]; a [x=3]; b [x=2] }");
    const [x, y] = ["x", "y"].map((name) => nodes.get("a")?.attributes.get(name));
    expect(x).toMatchObject({ inherited: false, replaces: 30, nameOffset: 39 });
    expect(nodes.get("b")?.attributes.get("x")?.replaces).toBeUndefined();
    expect(y).toMatchObject({ inherited: true, replaces: undefined, nameOffset: 21 });
  });

  it("gives subgraphs with the one around them and their nodes in order of first mention", () => {
    const { subgraphs } = read("digraph { c; subgraph s { b; { a c } } }");
    expect(subgraphs.map(({ name, parent, nodes }) => [name, parent?.name, nodes])).toEqual([
      ["s", undefined, ["c", "b", "a"]],
      [undefined, "s", ["c", "a"]],
    ]);
  });
});

describe("errors", () => {
  it("G-1 takes attributes that stand close to a string for attributes", () => {
    expect(problemsOf('digraph { a [x="1"y="2";z="3"] }')).toEqual([]);
  });

  it.each([
    ["HTML values", "digraph { a [label=<<b>x</b>>] }", "1:20", "HTML"],
    ["ports", "digraph { a:out:n -> b }", "1:12", "ports"],
    ["undirected edges", "digraph {\n a -- b\n}", "2:4", "`--`"],
    ["undirected graphs, once", "graph { a -- b -- c }", "1:1", "`graph`"],
    ["a second graph", "digraph { a }\ndigraph { b }", "2:1", "one file holds one graph"],
    ["an attribute list on a subgraph", "digraph { { a } [x=1] }", "1:17", "inside its braces"],
    ["an unquoted duration", "digraph { a [timeout=30s] }", "1:22", 'needs quotes: "30s"'],
    ["an unquoted dash", "digraph { review-loop -> a }", "1:17", "needs quotes"],
    ["an unquoted dotted name", "digraph { a [human.choice=x] }", "1:19", "needs quotes"],
    ["an open string", 'digraph {\n a [x="1]\n}', "2:7", "no closing quote"],
    ["an open comment", "digraph { a }\n /* b", "2:2", "no closing `*/`"],
    ["an open HTML value", "digraph { a [x=<b<i>] }", "1:16", "no closing `>`"],
    ["an open brace", "digraph { { a }", "1:9", "no closing `}`"],
    [
      "an open list before a statement",
      "digraph {\n a [x=1\n b [x=1]\n}",
      "2:4",
      "`[` has no closing",
    ],
    ["an open list before an arrow", "digraph {\n a [x=1\n a -> b\n}", "2:4", "`[` has no closing"],
    ["an open list before a brace", "digraph {\n a [x=1\n}", "2:4", "`[` has no closing"],
    [
      "an open list before `node`",
      "digraph {\n a [x=1\n node [y=1]\n}",
      "2:4",
      "`[` has no closing",
    ],
    ["an open list at the end", "digraph {\n a [x", "2:4", "`[` has no closing"],
    ["a quote in a string", 'digraph { a [x="echo "hi""] }', "1:23", 'as `\\"`'],
    ["quoted words in a string", 'digraph { a [x="say "hi there" now"] }', "1:22", 'as `\\"`'],
    ["an empty file", "", "1:1", "found the end of the file"],
    ["a missing value", "digraph { a [x=] }", "1:16", "found `]`"],
  ])("G-1 points at %s", (_, source, place, message) => {
    const problems = problemsOf(source);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.startsWith(`${place} syntax `)).toBe(true);
    expect(problems[0]).toContain(message);
  });

  it("G-1 reports every construct that workflows have no use for, and then the first that is not DOT", () => {
    const problems = problemsOf("digraph { a:n -- b\n c [label=<x>]\n d [ }");
    expect(problems.map((problem) => problem.split(" ")[0])).toEqual([
      "1:12",
      "1:15",
      "2:11",
      "3:4",
    ]);
  });
});

describe("limits", () => {
  const half = Math.ceil(Math.sqrt(dotLimits.edges)) + 1;

  it.each([
    ["nesting", `digraph ${"{".repeat(100_000)}`],
    ["nodes", `digraph { ${many(dotLimits.nodes + 1, (i) => `n${String(i)}`)} }`],
    [
      "edges",
      `digraph { {${many(half, (i) => `a${String(i)}`)}} -> {${many(half, (i) => `b${String(i)}`)}} }`,
    ],
    [
      "repeated edges of a strict graph",
      `strict digraph { a ${"-> a ".repeat(dotLimits.edges + 1)} }`,
    ],
    ["subgraphs", `digraph { ${"{}".repeat(dotLimits.subgraphs + 1)} }`],
    [
      "attributes of a statement",
      `digraph { a [${many(dotLimits.attributes + 1, (i) => `x${String(i)}=1`)}] }`,
    ],
    ["defaults", `digraph { ${many(dotLimits.attributes + 1, (i) => `node [x${String(i)}=1]`)} }`],
    [
      "attributes of the graph",
      `digraph { ${many(dotLimits.attributes + 1, (i) => `x${String(i)}=1`)} }`,
    ],
    ["the file's length", `digraph { a } ${" ".repeat(dotLimits.sourceLength)}`],
  ])("refuses a file past the limit of %s", (_, source) => {
    expect(readDot(source).problems.map(({ code }) => code)).toEqual(["too_large"]);
  });

  it("reads a graph at the limits of nodes, nesting and attributes", () => {
    const inner = many(dotLimits.nodes, (i) => `n${String(i)}`);
    const attributes = many(dotLimits.attributes, (i) => `x${String(i)}=1`);
    const depth = dotLimits.nesting - 1;
    const graph = read(
      `digraph { node [${attributes}] ${"{".repeat(depth)}${inner}${"}".repeat(depth)} }`,
    );
    expect(graph.nodes.size).toBe(dotLimits.nodes);
    expect(graph.subgraphs).toHaveLength(depth);
  });

  it.each([
    ["a long string", (size: number) => `digraph { a [x="${"\\n\\".repeat(size / 4)}x"] }`],
    ["many joined strings", (size: number) => `digraph { a [x="" ${'+"a"'.repeat(size / 4)}] }`],
    ["many comments", (size: number) => `digraph { ${"/**/".repeat(size / 4)} }`],
    ["many open angles", (size: number) => `digraph { a [x=${"<".repeat(size)}`],
    ["a long chain", (size: number) => `digraph { a ${"-> b".repeat(size / 4)} }`],
    [
      "one group opened again and again",
      (size: number) =>
        `digraph { subgraph s { ${many(4000, (i) => `n${String(i)}`)} } ${"subgraph s{}->{};".repeat(size / 20)} }`,
    ],
    [
      "ever new defaults",
      (size: number) => `digraph { ${many(size / 20, (i) => `node [x${String(i)}=1]`)} }`,
    ],
  ])("takes time in proportion to %s", (_, make) => {
    const source = make(800_000);
    expect(source.length).toBeLessThan(dotLimits.sourceLength);
    const before = performance.now();
    readDot(source);
    // Linear reading takes about a tenth of this; anything quadratic in 800,000 takes minutes.
    expect(performance.now() - before).toBeLessThan(3000);
  });
});

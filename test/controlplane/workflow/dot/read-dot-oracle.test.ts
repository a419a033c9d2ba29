import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDot } from "../../../../controlplane/workflow/dot/read-dot.ts";
import { asReading, hasGraphviz, readWithGraphviz } from "./graphviz.ts";

function ours(source: string): ReturnType<typeof asReading> | undefined {
  const { graph, problems } = readDot(source);
  return graph === undefined || problems.length > 0 ? undefined : asReading(graph);
}

const accepted: readonly (readonly [title: string, source: string])[] = [
  ["an empty graph", "digraph {}"],
  ["names and a strict header", 'STRICT DiGraph "my graph" { a }'],
  ["an edge chain with groups", "digraph { a -> b -> {c d} -> e [x=1] }"],
  ["node lists", "digraph { a, b -> c, d [x=1]; e, f [y=2] }"],
  ["a list that names a node twice", "digraph { a, a -> b }"],
  [
    "several attribute lists, commas, semicolons and neither",
    "digraph { a [x=1, y=2; z=3 w=4][][q=5] }",
  ],
  ["raw line ends in strings", 'digraph { a [script="one\n  two\n\tthree"] }'],
  ["joined strings", 'digraph { a [x="1" + "2" /* c */ + // d\n "3"]; "p"+"q" -> r }'],
  ["escapes", String.raw`digraph { a [x="q\"u\\o\nt\te\l\Nd", y="\\\"", z="C:\\new"] }`],
  ["a backslash before a line end", 'digraph { a [x="one \\\n two"] }'],
  [
    "comments in every place",
    "/*0*/ digraph /*1*/ g // 2\n { # 3\n a /*4*/ -> /*5*/ b /*6*/ [ /*7*/ x /*8*/ = /*9*/ 1 /*10*/ ] /*11*/ ; } // 12",
  ],
  ["comment marks inside strings", 'digraph { a [x="/* // # */"] }'],
  ["numerals", "digraph { 1 -> -2.5 -> .5 [x=-.5, y=1., z=007] }"],
  ["quoted keywords as names", 'digraph { "node" -> "edge" -> "Digraph" }'],
  ["keywords in any case", "DIGRAPH { NODE [x=1]; Edge [y=2]; a -> b; SubGraph s { c } }"],
  ["names beyond ASCII", "digraph { größe -> 値 [名=値] }"],
  ["an empty name", 'digraph { "" -> x }'],
  ["defaults only from their place on", "digraph { a; node [x=1]; b; node [x=2]; c; a; b }"],
  ["edge defaults", "digraph { a -> b; edge [x=1]; a -> b; b -> c [x=2]; edge [y=3]; c -> d }"],
  [
    "defaults that end with their braces",
    "digraph { node [x=1]; { node [x=2, y=3]; a; {b} } c; subgraph { edge [z=1]; a -> b } a -> b }",
  ],
  ["defaults that leave earlier nodes alone", "digraph { a; { node [x=1]; a; b } }"],
  [
    "a default of the graph that changes between two openings of a subgraph",
    "digraph { subgraph s { node [q=1] a } node [q=2, r=3] b; subgraph s { c } }",
  ],
  [
    "graph attributes that subgraphs take over when they open",
    "digraph { foo=1; subgraph s { bar=2; subgraph t { a } } foo=3; subgraph u { b } graph [foo=4] }",
  ],
  ["a subgraph inside an edge", "digraph { a -> subgraph s { node [x=1]; b -> c } -> d }"],
  ["groups in order of first mention", "digraph { b; c; {c b a} -> {d a} }"],
  ["an empty group", "digraph { a -> {} -> b }"],
  [
    "subgraphs of one name in two places",
    "digraph { subgraph p { subgraph s { a } } subgraph q { subgraph s { b } } }",
  ],
  ["repeated edges", "digraph { a -> b [x=1]; a -> b [x=2]; a -> a }"],
  [
    "repeated edges of a strict graph",
    "strict digraph { a -> b [x=1]; edge [z=1]; a -> b [y=2]; {a b} -> {a b} }",
  ],
  [
    "edges with a key",
    "digraph { a -> b [key=k, x=1]; a -> b [key=k, y=2]; a -> b; a -> b [key=l] }",
  ],
  ["a node stated twice", "digraph { a [x=1, y=1]; a [x=2, z=3] }"],
  ["CR LF", 'digraph {\r\n  a -> b;\r\n  a [x="1"]\r\n}\r\n'],
];

const refused: readonly (readonly [title: string, source: string])[] = [
  ["nothing", ""],
  ["no header", "{ a -> b }"],
  ["no braces", "digraph a -> b"],
  ["an open brace", "digraph { a -> b"],
  ["an open string", 'digraph { a [x="1] }'],
  ["an open comment", "digraph { a /* b }"],
  ["an arrow to nowhere", "digraph { a -> }"],
  ["an arrow from nowhere", "digraph { -> a }"],
  ["an attribute without a value", "digraph { a [x=] }"],
  ["two commas", "digraph { a [x=1,,y=2] }"],
  ["a dotted name", "digraph { a [human.choice=1] }"],
  ["a dashed name", "digraph { a-b -> c }"],
  ["a lone semicolon", "digraph { a;; b }"],
  ["a keyword as a name", "digraph { a -> node }"],
  ["a subgraph without braces", "digraph { subgraph s; a }"],
  ["a joined bare word", 'digraph { a [x="1" + b] }'],
  ["an undirected edge", "digraph { a -- b }"],
  ["a stray character", "digraph { a -> b ! }"],
  ["a closing brace too many", "digraph { a } }"],
];

describe.skipIf(!hasGraphviz)(
  "readDot beside Graphviz (skipped where `dot` is not installed)",
  () => {
    it.each(accepted)("G-1 reads %s as Graphviz does", (_, source) => {
      const reference = readWithGraphviz(source);
      expect(reference).toBeDefined();
      expect(ours(source)).toEqual(reference);
    });

    it.each(refused)("G-1 refuses %s as Graphviz does", (_, source) => {
      expect(readWithGraphviz(source)).toBeUndefined();
      expect(ours(source)).toBeUndefined();
    });

    it("G-1 reads generated graphs as Graphviz does", () => {
      fc.assert(
        fc.property(graphs, (source) => {
          const reference = readWithGraphviz(source);
          expect(reference).toBeDefined();
          expect(ours(source)).toEqual(reference);
        }),
        { numRuns: 300 },
      );
    });
  },
);

const blank = fc.constantFrom(" ", "\n", "\t", " /* c */ ", " // c\n", "\n# c\n", "\r\n");
const bareName = fc.constantFrom("a", "b", "c", "d", "e", "_f", "G1", "é");
const quotedName = fc.constantFrom('"a"', '"b"', '"c"', '"x y"', '"no" + "de"', '"-1"');
const name = fc.oneof({ weight: 4, arbitrary: bareName }, { weight: 1, arbitrary: quotedName });
const string = fc
  .array(
    fc.constantFrom(
      "a",
      " ",
      // Graphviz 2.43 loses a line end that stands alone between two escapes or quotes.
      "\n ",
      '\\"',
      "\\\\",
      "\\n",
      "\\t",
      "\\l",
      "{",
      "->",
      "é",
      "\\\n",
      "'",
      "#",
    ),
    { maxLength: 6 },
  )
  .map((parts) => `"${parts.join("")}"`);
const value = fc.oneof(fc.constantFrom("1", "-2.5", ".5", "red", "Edge1"), string);
const assignment = fc
  .tuple(fc.constantFrom("p", "q", "r", "s"), blank, value)
  .map(([key, gap, text]) => `${key}${gap}=${gap}${text}`);
const list = fc
  .array(fc.tuple(assignment, fc.constantFrom(",", ";", " ")), { maxLength: 3 })
  .map((items) => `[${items.map(([item, end]) => item + end).join("")}]`);
const lists = fc.array(list, { maxLength: 2 }).map((all) => all.join(" "));

const { statements } = fc.letrec<{
  statements: string;
  statement: string;
  subgraph: string;
  end: string;
}>((tie) => ({
  statements: fc
    .array(fc.tuple(tie("statement"), fc.constantFrom(";", "\n"), blank), { maxLength: 5 })
    .map((all) => all.map((one) => one.join("")).join("")),
  statement: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc
      .tuple(fc.array(name, { minLength: 1, maxLength: 2 }), lists)
      .map(([ids, set]) => `${ids.join(", ")} ${set}`),
    fc.tuple(fc.constantFrom("node", "EDGE", "graph"), list).map(([of, set]) => `${of} ${set}`),
    assignment,
    fc
      .tuple(fc.array(tie("end"), { minLength: 2, maxLength: 4 }), blank, lists)
      .map(([ends, gap, set]) => `${ends.join(`${gap}->${gap}`)} ${set}`),
    tie("subgraph"),
  ),
  subgraph: fc
    .tuple(fc.constantFrom("", "subgraph", "subgraph s", 'SUBGRAPH "t u"'), tie("statements"))
    .map(([head, body]) => `${head} {${body}}`),
  end: fc.oneof({ depthSize: "small" }, name, name, tie("subgraph")),
}));

const graphs = fc
  .tuple(fc.constantFrom("digraph", "strict digraph g", 'DiGraph "h i"'), blank, statements)
  .map(([head, gap, body]) => `${gap}${head}${gap}{${gap}${body}}${gap}`);

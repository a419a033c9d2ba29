import { DotError } from "./dot-error.ts";
import type { DotAttribute, DotEdge, DotGraph, DotNode, DotSubgraph } from "./dot-graph.ts";
import { dotLimits } from "./dot-limits.ts";
import { Scope, setAttributes, type OpenSubgraph } from "./scope.ts";
import type {
  EdgesSyntax,
  EndSyntax,
  GraphSyntax,
  NodeSyntax,
  StatementSyntax,
  SubgraphSyntax,
} from "./syntax.ts";

/** Works out scopes, defaults and edge chains as Graphviz does (G-1). Throws DotError past `dotLimits`. */
export function evaluate(syntax: GraphSyntax): DotGraph {
  const evaluation = new Evaluation(syntax.strict);
  const root = new Scope();
  evaluation.run(syntax.statements, root);
  return {
    name: syntax.name?.text,
    strict: syntax.strict,
    offset: syntax.offset,
    attributes: root.attributes,
    nodes: evaluation.nodes,
    edges: evaluation.edges,
    subgraphs: evaluation.closeSubgraphs(),
  };
}

interface OpenNode extends DotNode {
  /** Place in the order of first mention. */
  readonly index: number;
  statedAt: number | undefined;
  readonly attributes: Map<string, DotAttribute>;
}

interface OpenEdge extends DotEdge {
  readonly attributes: Map<string, DotAttribute>;
}

class Evaluation {
  readonly nodes = new Map<string, OpenNode>();
  readonly edges: OpenEdge[] = [];
  readonly #subgraphs: OpenSubgraph[] = [];
  readonly #strict: boolean;
  /** Edges that a later mention means again: all of a strict graph, else those with a `key`. */
  readonly #known = new Map<string, OpenEdge>();
  #written = 0;

  constructor(strict: boolean) {
    this.#strict = strict;
  }

  run(statements: readonly StatementSyntax[], scope: Scope): void {
    for (const statement of statements) {
      switch (statement.kind) {
        case "defaults":
          scope.set(statement.of, statement.attributes);
          break;
        case "nodes":
          for (const mention of statement.nodes) {
            const node = this.#node(mention, scope);
            node.statedAt ??= mention.offset;
            setAttributes(node.attributes, statement.attributes);
          }
          break;
        case "subgraph":
          this.#subgraph(statement, scope);
          break;
        case "edges":
          this.#chain(statement, scope);
          break;
      }
    }
  }

  closeSubgraphs(): DotSubgraph[] {
    const closed = new Map<OpenSubgraph, DotSubgraph>();
    for (const open of this.#subgraphs) {
      const { members, parent, ...rest } = open;
      closed.set(open, {
        ...rest,
        // A subgraph is opened after the one around it, so that one is closed already.
        parent: parent === undefined ? undefined : closed.get(parent),
        nodes: this.#inOrder(members).map((node) => node.id),
      });
    }
    return [...closed.values()];
  }

  #chain({ first, rest, attributes }: EdgesSyntax, scope: Scope): void {
    const ends = [first, ...rest.map(({ end }) => end)].map((end) => this.#end(end, scope));
    const key = attributes.findLast(({ name }) => name === "key")?.value.text;
    for (const [i, { arrow }] of rest.entries()) {
      const [tails, heads] = [ends[i], ends[i + 1]];
      // Putting an end in order is work that only edges pay for.
      if (tails === undefined || heads === undefined || sizeOf(tails) === 0 || sizeOf(heads) === 0)
        continue;
      const orderedHeads = this.#inOrder(heads);
      for (const tail of this.#inOrder(tails)) {
        for (const head of orderedHeads) {
          setAttributes(this.#edge(tail, head, key, arrow, scope).attributes, attributes);
        }
      }
    }
  }

  #end(end: EndSyntax, scope: Scope): EndNodes {
    return end.kind === "nodes"
      ? end.nodes.map((mention) => this.#node(mention, scope))
      : this.#subgraph(end, scope);
  }

  #edge(
    tail: OpenNode,
    head: OpenNode,
    key: string | undefined,
    offset: number,
    scope: Scope,
  ): OpenEdge {
    this.#written += 1;
    if (this.#written > dotLimits.edges) throw tooMany("edges", offset);
    const ends = `${String(tail.index)} ${String(head.index)}`;
    const name = this.#strict ? ends : key === undefined ? undefined : `${ends} ${key}`;
    const known = name === undefined ? undefined : this.#known.get(name);
    if (known !== undefined) return known;
    const edge = { from: tail.id, to: head.id, offset, attributes: scope.defaults("edge") };
    this.edges.push(edge);
    if (name !== undefined) this.#known.set(name, edge);
    return edge;
  }

  #node({ id, offset }: NodeSyntax, scope: Scope): OpenNode {
    let node = this.nodes.get(id);
    if (node === undefined) {
      const index = this.nodes.size;
      if (index >= dotLimits.nodes) throw tooMany("nodes", offset);
      node = { id, offset, index, statedAt: undefined, attributes: scope.defaults("node") };
      this.nodes.set(id, node);
    }
    scope.addMember(id);
    return node;
  }

  /** The ids in the subgraph, once its statements have run. */
  #subgraph({ name, offset, statements }: SubgraphSyntax, scope: Scope): ReadonlySet<string> {
    const known = name === undefined ? undefined : scope.child(name.text);
    const inner = known ?? new Scope(scope, { name: name?.text, offset });
    if (known === undefined && inner.subgraph !== undefined) {
      if (this.#subgraphs.length >= dotLimits.subgraphs) throw tooMany("subgraphs", offset);
      this.#subgraphs.push(inner.subgraph);
    }
    this.run(statements, inner);
    return inner.subgraph?.members ?? new Set();
  }

  /** Nodes of a list as they are listed, of a subgraph in order of first mention. */
  #inOrder(nodes: EndNodes): readonly OpenNode[] {
    if (!("has" in nodes)) return nodes;
    return [...nodes]
      .flatMap((id) => this.nodes.get(id) ?? [])
      .toSorted((a, b) => a.index - b.index);
  }
}

/** One end of an edge: a list of nodes, or the ids in a subgraph. */
type EndNodes = readonly OpenNode[] | ReadonlySet<string>;

function sizeOf(nodes: EndNodes): number {
  return "has" in nodes ? nodes.size : nodes.length;
}

function tooMany(what: "nodes" | "edges" | "subgraphs", offset: number): DotError {
  return new DotError("too_large", offset, `the graph has over ${String(dotLimits[what])} ${what}`);
}

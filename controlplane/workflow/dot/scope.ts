import { DotError } from "./dot-error.ts";
import type { DotAttribute, DotSubgraph } from "./dot-graph.ts";
import { dotLimits } from "./dot-limits.ts";
import type { AttributeSyntax } from "./syntax.ts";

/**
 * One pair of braces while it is worked out, as Graphviz does it. Defaults of a scope hold for what is first
 * mentioned in it and below, from there on. What a graph sets for itself is also a default for the subgraphs
 * opened in it later.
 */
export class Scope {
  readonly subgraph: OpenSubgraph | undefined;
  readonly attributes: Map<string, DotAttribute>;
  readonly #parent: Scope | undefined;
  readonly #defaults = {
    graph: new Map<string, DotAttribute>(),
    node: new Map<string, DotAttribute>(),
    edge: new Map<string, DotAttribute>(),
  };
  readonly #named = new Map<string, Scope>();

  constructor(parent?: Scope, opened?: { readonly name: string | undefined; offset: number }) {
    this.#parent = parent;
    this.attributes = parent?.defaults("graph") ?? new Map<string, DotAttribute>();
    if (parent === undefined || opened === undefined) return;
    this.subgraph = {
      name: opened.name,
      parent: parent.subgraph,
      offset: opened.offset,
      attributes: this.attributes,
      members: new Set(),
    };
    if (opened.name !== undefined) parent.#named.set(opened.name, this);
  }

  /** The subgraph of that name directly in this scope, if it was opened before. */
  child(name: string): Scope | undefined {
    return this.#named.get(name);
  }

  /** Enters a node here and in every scope around. */
  addMember(id: string): void {
    const members = this.subgraph?.members;
    // A member is in every scope around, too, so the first hit ends the climb.
    if (members === undefined || members.has(id)) return;
    members.add(id);
    this.#parent?.addMember(id);
  }

  /**
   * `node [...]`, `edge [...]`, `graph [...]` and `a=b`. Throws DotError where over `dotLimits.attributes` names hold,
   * those from around included.
   */
  set(of: DefaultsOf, attributes: readonly AttributeSyntax[]): void {
    if (of === "graph") setAttributes(this.attributes, attributes);
    const defaults = this.#defaults[of];
    const sizeBefore = defaults.size;
    for (const { name, nameOffset, value } of attributes) {
      defaults.set(name, { value, nameOffset, inherited: true, replaces: undefined });
    }
    if (defaults.size > sizeBefore) checkCount(of, this.defaults(of).size, attributes);
  }

  /** What a node, an edge or a subgraph that is made here starts with. */
  defaults(of: DefaultsOf): Map<string, DotAttribute> {
    const outer = this.#parent?.defaults(of) ?? new Map<string, DotAttribute>();
    for (const [name, attribute] of this.#defaults[of]) outer.set(name, attribute);
    return outer;
  }
}

type DefaultsOf = "graph" | "node" | "edge";

export type OpenSubgraph = Omit<DotSubgraph, "nodes" | "parent"> & {
  readonly parent: OpenSubgraph | undefined;
  readonly members: Set<string>;
};

/** An element's own statement: the last value of a name holds, and remembers the one it replaces. */
export function setAttributes(
  target: Map<string, DotAttribute>,
  attributes: readonly AttributeSyntax[],
): void {
  for (const { name, nameOffset, value } of attributes) {
    const before = target.get(name);
    const replaced =
      before !== undefined && !before.inherited && before.value.text !== value.text
        ? before.nameOffset
        : before?.replaces;
    target.set(name, { value, nameOffset, inherited: false, replaces: replaced });
  }
}

function checkCount(of: string, size: number, attributes: readonly AttributeSyntax[]): void {
  const limit = dotLimits.attributes;
  if (size <= limit) return;
  const message = `over ${String(limit)} ${of} attributes hold here`;
  throw new DotError("too_large", attributes[0]?.nameOffset ?? 0, message);
}

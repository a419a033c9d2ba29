import type { SourceText } from "./source-text.ts";

/**
 * A DOT file as it is written, before defaults, scopes and edge chains are worked out. Offsets in UTF-16
 * units.
 */
export interface GraphSyntax {
  readonly strict: boolean;
  readonly name: SourceText | undefined;
  /** Of the word `digraph`. */
  readonly offset: number;
  readonly statements: readonly StatementSyntax[];
}

export type StatementSyntax =
  /** `node [...]`, `edge [...]`, `graph [...]`, and `a=b`, which is `graph [a=b]`. */
  | {
      readonly kind: "defaults";
      readonly of: "graph" | "node" | "edge";
      readonly attributes: readonly AttributeSyntax[];
    }
  | {
      readonly kind: "nodes";
      readonly nodes: readonly NodeSyntax[];
      readonly attributes: readonly AttributeSyntax[];
    }
  | EdgesSyntax
  | SubgraphSyntax;

/** `a -> b -> {c d} [...]`. */
export interface EdgesSyntax {
  readonly kind: "edges";
  readonly first: EndSyntax;
  readonly rest: readonly { readonly arrow: number; readonly end: EndSyntax }[];
  readonly attributes: readonly AttributeSyntax[];
}

export type EndSyntax =
  | { readonly kind: "nodes"; readonly nodes: readonly NodeSyntax[] }
  | SubgraphSyntax;

export interface SubgraphSyntax {
  readonly kind: "subgraph";
  readonly name: SourceText | undefined;
  readonly offset: number;
  readonly statements: readonly StatementSyntax[];
}

export interface NodeSyntax {
  readonly id: string;
  readonly offset: number;
}

export interface AttributeSyntax {
  readonly name: string;
  readonly nameOffset: number;
  readonly value: SourceText;
}

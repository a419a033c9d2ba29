import type { SourceText } from "./source-text.ts";

/** A DOT file worked out: scopes and defaults applied, edge chains written out. Offsets in UTF-16 units. */
export interface DotGraph {
  readonly name: string | undefined;
  readonly strict: boolean;
  readonly offset: number;
  readonly attributes: DotAttributes;
  /** In order of first mention. */
  readonly nodes: ReadonlyMap<string, DotNode>;
  /** In source order. */
  readonly edges: readonly DotEdge[];
  /** In order of opening; a subgraph that is opened again by name is one subgraph. */
  readonly subgraphs: readonly DotSubgraph[];
}

export interface DotNode {
  readonly id: string;
  /** Of its first mention. */
  readonly offset: number;
  /** Of its first statement of its own; undefined for a node that only edges mention. */
  readonly statedAt: number | undefined;
  readonly attributes: DotAttributes;
}

export interface DotEdge {
  readonly from: string;
  readonly to: string;
  /** Of its arrow. */
  readonly offset: number;
  readonly attributes: DotAttributes;
}

export interface DotSubgraph {
  readonly name: string | undefined;
  /** Undefined directly inside the graph. */
  readonly parent: DotSubgraph | undefined;
  readonly offset: number;
  readonly attributes: DotAttributes;
  /** Its own and those of its subgraphs, in order of first mention in the file. */
  readonly nodes: readonly string[];
}

export type DotAttributes = ReadonlyMap<string, DotAttribute>;

export interface DotAttribute {
  readonly value: SourceText;
  readonly nameOffset: number;
  /**
   * From `node [...]`, `edge [...]`, or the graph around a subgraph, not from the element's own statement.
   */
  readonly inherited: boolean;
  /** Where the element's own statements had already given it another value. */
  readonly replaces: number | undefined;
}

/**
 * What one file may ask for. `{a b c} -> {d e f}` and inherited defaults make more than they are long, so the
 * size of a file alone bounds neither memory nor time; these do. A workflow of a thousand steps is far below
 * all of them.
 */
export const dotLimits = {
  /** UTF-16 units of one file. */
  sourceLength: 1024 ** 2,
  /** Braces inside braces. The parser recurses once per level, and a node is a member on every level. */
  nesting: 16,
  nodes: 4096,
  subgraphs: 4096,
  /** Counted as written out, repeated edges of a strict graph included. */
  edges: 16_384,
  /**
   * Names that one statement sets, that one graph or subgraph has, and that hold as defaults at one place.
   */
  attributes: 64,
} as const;

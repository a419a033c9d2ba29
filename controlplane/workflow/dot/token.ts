import type { SourceText } from "./source-text.ts";

/** Words that DOT keeps for itself, in any case. In quotes they are ordinary names. */
export const keywords = ["strict", "graph", "digraph", "subgraph", "node", "edge"] as const;
export type Keyword = (typeof keywords)[number];

export const punctuation = ["->", "--", "{", "}", "[", "]", ";", ",", "=", ":", "+"] as const;
export type Punctuation = (typeof punctuation)[number];

/** `name` is a bare word or a numeral; `html` is `<…>`; `end` is the end of the file. */
export type TokenKind = Keyword | Punctuation | "name" | "quoted" | "html" | "end";

export interface Token {
  readonly kind: TokenKind;
  /** Source offsets in UTF-16 units, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** Decoded; empty for punctuation and `end`. */
  readonly value: SourceText;
}

import { escapeText } from "../../../contract/escape.ts";
import { DotError, type DotProblem } from "./dot-error.ts";
import { dotLimits } from "./dot-limits.ts";
import { Lexer } from "./lexer.ts";
import { SourceTextBuilder, type SourceText } from "./source-text.ts";
import type {
  AttributeSyntax,
  EndSyntax,
  GraphSyntax,
  NodeSyntax,
  StatementSyntax,
  SubgraphSyntax,
} from "./syntax.ts";
import type { Token, TokenKind } from "./token.ts";

/**
 * Recursive descent over the DOT grammar (G-1), one token ahead. It recurses only from brace to brace, at most
 * `dotLimits.nesting` deep. Constructs that DOT has and workflows do not (ports, `--`, HTML) are noted in `problems`
 * and passed over, so that one look shows all of them.
 */
export class Parser {
  readonly problems: DotProblem[] = [];
  readonly #lexer: Lexer;
  #token: Token;
  /** What stood before it. */
  #before: Token | undefined;
  #depth = 0;

  /** Throws DotError where the source does not even begin with a token. */
  constructor(source: string) {
    this.#lexer = new Lexer(source);
    this.#token = this.#lexer.next();
  }

  /**
   * The file's one graph. Throws DotError at what is not DOT, and past the limits of nesting and attributes.
   */
  parse(): GraphSyntax {
    const strict = this.#accept("strict");
    const offset = this.#token.start;
    if (this.#token.kind === "graph") {
      const message = "a workflow is a `digraph`; `graph` has no directions";
      throw new DotError("syntax", offset, message);
    }
    this.#expect("digraph", "a workflow begins with `digraph`");
    const name = this.#optionalId();
    const statements = this.#body();
    if (this.#token.kind !== "end") {
      throw this.#unexpected("one file holds one graph, and it ends with its closing `}`");
    }
    return { strict, name, offset, statements };
  }

  #body(): StatementSyntax[] {
    const open = this.#expect("{", "expected `{`");
    if (this.#depth >= dotLimits.nesting) {
      throw new DotError(
        "too_large",
        open.start,
        `braces are nested over ${String(dotLimits.nesting)} deep`,
      );
    }
    this.#depth += 1;
    const statements: StatementSyntax[] = [];
    while (!this.#accept("}")) {
      if (this.#token.kind === "end") {
        throw new DotError("syntax", open.start, "this `{` has no closing `}`");
      }
      statements.push(this.#statement());
      this.#accept(";");
    }
    this.#depth -= 1;
    return statements;
  }

  #statement(): StatementSyntax {
    const { kind } = this.#token;
    if (kind === "graph" || kind === "node" || kind === "edge") {
      this.#advance();
      if (this.#token.kind !== "[") throw this.#unexpected(`expected \`[\` after \`${kind}\``);
      return { kind: "defaults", of: kind, attributes: this.#attributes() };
    }
    if (kind === "subgraph" || kind === "{") return this.#edgesFrom(this.#subgraph());
    const first = this.#id("expected a node, an edge, `a=b`, a subgraph or `}`");
    if (this.#accept("=")) {
      const attribute = { ...named(first), value: this.#id("expected a value after `=`").decoded };
      return { kind: "defaults", of: "graph", attributes: [attribute] };
    }
    return this.#edgesFrom(this.#nodes(first));
  }

  /** What follows the first end of a statement: arrows and further ends, then attributes. */
  #edgesFrom(first: EndSyntax): StatementSyntax {
    const rest: { arrow: number; end: EndSyntax }[] = [];
    while (this.#token.kind === "->" || this.#token.kind === "--") {
      const arrow = this.#advance();
      if (arrow.kind === "--") this.#note(arrow.start, "`--` has no direction; write `->`");
      rest.push({ arrow: arrow.start, end: this.#end() });
    }
    if (rest.length > 0) return { kind: "edges", first, rest, attributes: this.#attributes() };
    if (first.kind === "nodes") return { ...first, attributes: this.#attributes() };
    if (this.#token.kind === "[") {
      throw this.#unexpected("a subgraph takes its attributes inside its braces");
    }
    return first;
  }

  #end(): EndSyntax {
    return this.#token.kind === "subgraph" || this.#token.kind === "{"
      ? this.#subgraph()
      : this.#nodes(this.#id("expected a node or a subgraph after the arrow"));
  }

  #subgraph(): SubgraphSyntax {
    const offset = this.#token.start;
    const name = this.#accept("subgraph") ? this.#optionalId() : undefined;
    return { kind: "subgraph", name, offset, statements: this.#body() };
  }

  /** `a, b, c`, of which the first is already read. */
  #nodes(first: Id): EndSyntax & { kind: "nodes" } {
    const nodes: NodeSyntax[] = [this.#node(first)];
    while (this.#accept(",")) nodes.push(this.#node(this.#id("expected a node after `,`")));
    return { kind: "nodes", nodes };
  }

  #node(id: Id): NodeSyntax {
    const port = this.#token.start;
    if (this.#accept(":")) {
      this.#note(port, "ports mean nothing in a workflow; leave out `:` and what follows");
      this.#id("expected a port after `:`");
      if (this.#accept(":")) this.#id("expected a compass point after `:`");
    }
    return { id: id.decoded.text, offset: id.offset };
  }

  /** Any number of `[...]`, one after the other. */
  #attributes(): AttributeSyntax[] {
    const attributes: AttributeSyntax[] = [];
    while (this.#token.kind === "[") {
      const open = this.#advance();
      while (!this.#accept("]")) {
        this.#refuseUnclosed(open);
        const endedQuote = this.#before?.kind === "quoted" ? this.#before.end : undefined;
        const name = this.#id("expected an attribute name or `]`");
        if (!this.#accept("=")) throw this.#noAttribute(open, name, endedQuote);
        attributes.push({ ...named(name), value: this.#id("expected a value after `=`").decoded });
        if (attributes.length > dotLimits.attributes) {
          const limit = String(dotLimits.attributes);
          throw new DotError("too_large", name.offset, `a statement sets over ${limit} attributes`);
        }
        if (!this.#accept(",")) this.#accept(";");
      }
    }
    return attributes;
  }

  /** What no list of attributes holds begins the next statement, or ends the braces. */
  #refuseUnclosed(open: Token): void {
    if (afterAttributes.has(this.#token.kind))
      throw new DotError("syntax", open.start, "this `[` has no closing `]`");
  }

  #noAttribute(open: Token, name: Id, endedQuote: number | undefined): DotError {
    // `"echo "hi""`: the word stands at the very end of a string.
    if (name.offset === endedQuote)
      return new DotError("syntax", name.offset, 'write a quote inside a string as `\\"`');
    this.#refuseUnclosed(open);
    return this.#unexpected("expected `=` after the attribute name; a name with dots needs quotes");
  }

  #optionalId(): SourceText | undefined {
    return this.#token.kind === "{" ? undefined : this.#id("expected a name or `{`").decoded;
  }

  /** A name, a numeral, or quoted strings joined by `+`. */
  #id(otherwise: string): Id {
    const { kind, start, value } = this.#token;
    if (kind === "html") {
      this.#note(start, "HTML values are not read; write a quoted string");
    } else if (kind !== "name" && kind !== "quoted") {
      throw this.#unexpected(otherwise);
    }
    this.#advance();
    if (kind !== "quoted" || this.#token.kind !== "+") return { decoded: value, offset: start };
    const joined = new SourceTextBuilder();
    joined.appendText(value);
    let end = start;
    while (this.#accept("+")) {
      const part = this.#expect("quoted", "expected a quoted string after `+`");
      joined.appendText(part.value);
      end = part.end - 1;
    }
    return { decoded: joined.build(end), offset: start };
  }

  #accept(kind: TokenKind): boolean {
    if (this.#token.kind !== kind) return false;
    this.#advance();
    return true;
  }

  #expect(kind: TokenKind, otherwise: string): Token {
    if (this.#token.kind !== kind) throw this.#unexpected(otherwise);
    return this.#advance();
  }

  #advance(): Token {
    const token = this.#token;
    this.#before = token;
    this.#token = this.#lexer.next();
    return token;
  }

  #note(offset: number, message: string): void {
    this.problems.push({ code: "syntax", offset, message });
  }

  #unexpected(message: string): DotError {
    const { kind, start, value } = this.#token;
    const found = kind === "end" ? "the end of the file" : `\`${brief(value.text)}\``;
    return new DotError("syntax", start, `${message}; found ${found}`);
  }
}

const afterAttributes: ReadonlySet<TokenKind> = new Set<TokenKind>([
  "->",
  "--",
  "{",
  "}",
  "[",
  "node",
  "edge",
  "graph",
  "subgraph",
  "end",
]);

/** `offset` is where it begins in the source, quote included. */
interface Id {
  readonly decoded: SourceText;
  readonly offset: number;
}

function named(id: Id): { name: string; nameOffset: number } {
  return { name: id.decoded.text, nameOffset: id.offset };
}

function brief(text: string): string {
  return escapeText(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

import { escapeText } from "../../../contract/escape.ts";
import { DotError } from "./dot-error.ts";
import { readQuoted } from "./quoted.ts";
import { verbatim } from "./source-text.ts";
import { keywords, punctuation, type Token, type TokenKind } from "./token.ts";

const blank = /[ \t\r\n]+/y;
const word = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*/y;
const numeral = /-?(?:\d+(?:\.\d*)?|\.\d+)/y;
const wordAhead = /[A-Za-z0-9_.\u0080-\uffff]/y;
const byteOrderMark = "\ufeff";

/**
 * Splits DOT into tokens (G-1), one per call, so that the parser's first complaint is also the first in the
 * file.
 */
export class Lexer {
  readonly #source: string;
  #at: number;

  constructor(source: string) {
    this.#source = source;
    this.#at = source.startsWith(byteOrderMark) ? 1 : 0;
  }

  /** The next token; `end` for ever once the source is over. Throws DotError at what begins no token. */
  next(): Token {
    this.#skipBlanksAndComments();
    const token = this.#read(this.#at);
    this.#at = token.end;
    return token;
  }

  #read(start: number): Token {
    const source = this.#source;
    if (start >= source.length) return this.#token("end", start, start);
    if (source[start] === '"') {
      const { value, end } = readQuoted(source, start);
      return { kind: "quoted", start, end, value };
    }
    if (source[start] === "<") return this.#html(start);
    const mark = punctuation.find((one) => source.startsWith(one, start));
    if (mark !== undefined) return this.#token(mark, start, start + mark.length);
    const name = this.#match(word, start);
    if (name !== "") {
      const keyword = keywords.find((one) => one === name.toLowerCase());
      return this.#token(keyword ?? "name", start, start + name.length);
    }
    return this.#numeral(start);
  }

  #numeral(start: number): Token {
    const digits = this.#match(numeral, start);
    if (digits === "") {
      const found = String.fromCodePoint(this.#source.codePointAt(start) ?? 0);
      throw new DotError(
        "syntax",
        start,
        `unexpected \`${escapeText(found)}\`; a name of more than letters, digits and \`_\` needs quotes`,
      );
    }
    // Graphviz splits `30s` into two tokens with a warning, and so reads another graph than was meant.
    if (this.#match(wordAhead, start + digits.length) !== "") {
      throw new DotError("syntax", start, 'a value such as `30s` needs quotes: "30s"');
    }
    return this.#token("name", start, start + digits.length);
  }

  #html(start: number): Token {
    const angle = /[<>]/g;
    angle.lastIndex = start;
    let depth = 0;
    for (let found = angle.exec(this.#source); found !== null; found = angle.exec(this.#source)) {
      depth += found[0] === "<" ? 1 : -1;
      if (depth === 0) return this.#token("html", start, angle.lastIndex);
    }
    throw new DotError("syntax", start, "this `<` has no closing `>`");
  }

  #skipBlanksAndComments(): void {
    for (;;) {
      this.#at += this.#match(blank, this.#at).length;
      if (this.#source.startsWith("/*", this.#at)) {
        const close = this.#source.indexOf("*/", this.#at + 2);
        if (close === -1)
          throw new DotError("syntax", this.#at, "this comment has no closing `*/`");
        this.#at = close + 2;
      } else if (this.#source.startsWith("//", this.#at) || this.#source[this.#at] === "#") {
        const close = this.#source.indexOf("\n", this.#at);
        this.#at = close === -1 ? this.#source.length : close;
      } else {
        return;
      }
    }
  }

  #match(pattern: RegExp, at: number): string {
    pattern.lastIndex = at;
    return pattern.exec(this.#source)?.[0] ?? "";
  }

  #token(kind: TokenKind, start: number, end: number): Token {
    return { kind, start, end, value: verbatim(this.#source.slice(start, end), start) };
  }
}

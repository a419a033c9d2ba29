const blanks = /\s*/y;
const toComma = /[^,]*/y;

/** Walks over a list of comma-separated declarations, from left to right. */
export class DeclarationScanner {
  readonly #text: string;
  /** Of the next character, in UTF-16 units. */
  index = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    return this.index >= this.#text.length;
  }

  skipBlanks(): void {
    this.take(blanks);
  }

  skipToComma(): void {
    this.take(toComma);
  }

  /** Past the blanks, whether the entry ends here. */
  atComma(): boolean {
    this.skipBlanks();
    return this.atEnd() || this.#text[this.index] === ",";
  }

  /** What the sticky pattern matches here, and past it; empty where it does not. */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.index;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.index += found.length;
    return found;
  }

  /** Passes over blanks and, if it stands here, the character and the blanks after it. */
  takeWord(character: string): boolean {
    this.skipBlanks();
    if (this.#text[this.index] !== character) return false;
    this.index += 1;
    this.skipBlanks();
    return true;
  }

  /** The fallback that begins here; null where its quote is never closed. */
  takeFallback(): string | null {
    if (this.#text[this.index] !== "'") return this.take(toComma).trimEnd();
    const pieces: string[] = [];
    for (let from = this.index + 1; ;) {
      const close = this.#text.indexOf("'", from);
      if (close === -1) return null;
      pieces.push(this.#text.slice(from, close));
      this.index = close + 1;
      if (this.#text[this.index] !== "'") return pieces.join("'");
      from = close + 2;
    }
  }
}

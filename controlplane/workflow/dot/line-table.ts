/** Both from 1. `column` counts UTF-16 units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

const byteOrderMark = 0xfeff;

/**
 * Turns offsets (UTF-16 units) of one source into lines and columns. Lines end in LF; a byte order mark takes
 * no column.
 */
export class LineTable {
  readonly #starts: number[];

  constructor(source: string) {
    this.#starts = [source.charCodeAt(0) === byteOrderMark ? 1 : 0];
    for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) {
      this.#starts.push(at + 1);
    }
  }

  positionOf(offset: number): Position {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: Math.max(0, offset - (this.#starts[low] ?? 0)) + 1 };
  }
}

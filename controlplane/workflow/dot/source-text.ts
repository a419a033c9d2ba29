/**
 * Decoded text that knows where in its source each character stood, so that an error inside a long prompt or
 * script points at its own line. Only the places where decoding skipped something are stored, not one number
 * per character.
 */
export interface SourceText {
  readonly text: string;
  /** Sorted by `index`; the first one has index 0. */
  readonly runs: readonly Run[];
}

/**
 * From decoded `index` on, characters stand one by one from source `offset` on, up to the next run. UTF-16
 * units.
 */
export interface Run {
  readonly index: number;
  readonly offset: number;
}

/** Text that stands in the source exactly as it reads. */
export function verbatim(text: string, offset: number): SourceText {
  return { text, runs: [{ index: 0, offset }] };
}

/** The source offset of the character at `index`; for `index === text.length`, the end of the text. */
export function offsetAt(text: SourceText, index: number): number {
  let low = 0;
  let high = text.runs.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((text.runs[middle]?.index ?? 0) <= index) low = middle;
    else high = middle;
  }
  const run = text.runs[low] ?? { index: 0, offset: 0 };
  return run.offset + (index - run.index);
}

/** Puts decoded pieces together, in order. */
export class SourceTextBuilder {
  readonly #pieces: string[] = [];
  readonly #runs: Run[] = [];
  #length = 0;
  #nextOffset = Number.NaN;

  /** `text` is what was decoded from the source at `offset`; it may be shorter there (`\n` is two units). */
  append(text: string, offset: number): void {
    if (offset !== this.#nextOffset) this.#startRun(offset);
    this.#pieces.push(text);
    this.#length += text.length;
    this.#nextOffset = offset + text.length;
  }

  /** Takes over a finished piece with its own runs: `"a" + "b"`. */
  appendText(piece: SourceText): void {
    for (const run of piece.runs) this.#runs.push({ ...run, index: run.index + this.#length });
    this.#pieces.push(piece.text);
    this.#length += piece.text.length;
    this.#nextOffset = Number.NaN;
  }

  /** `endOffset` is where the source of the text ends: the closing quote. */
  build(endOffset: number): SourceText {
    if (endOffset !== this.#nextOffset) this.#startRun(endOffset);
    return { text: this.#pieces.join(""), runs: dropShadowed(this.#runs) };
  }

  #startRun(offset: number): void {
    this.#runs.push({ index: this.#length, offset });
  }
}

/** Of runs that begin at one index, the last one holds: the others cover no character. */
function dropShadowed(runs: readonly Run[]): Run[] {
  return runs.filter((run, i) => run.index !== runs[i + 1]?.index);
}

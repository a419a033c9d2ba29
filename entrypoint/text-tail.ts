/** The last bytes of an output, in bounded memory, as valid UTF-8 of at most `maxBytes`. */
export class TextTail {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    // Merged only once in a while: output may come in very small pieces.
    if (this.#size > 2 * this.#maxBytes + minSlackBytes) this.#trim();
  }

  /** Cut at a code point; bytes that are no UTF-8 come replaced. */
  bytes(): Buffer {
    this.#trim();
    const text = cutBehind(Buffer.concat(this.#chunks), this.#maxBytes).toString("utf8");
    // A replacement has three bytes and may stand for one.
    return cutBehind(Buffer.from(text), this.#maxBytes);
  }

  #trim(): void {
    // Four bytes more, so that the cut can look for the beginning of a character.
    const kept = Buffer.concat(this.#chunks).subarray(-(this.#maxBytes + 4));
    this.#chunks = [Buffer.from(kept)];
    this.#size = kept.length;
  }
}

const minSlackBytes = 65_536;

/** The last `maxBytes` at most, not beginning inside a character. */
function cutBehind(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length <= maxBytes) return bytes;
  let start = bytes.length - maxBytes;
  for (let i = 0; i < 3 && isContinuation(bytes[start]); i += 1) start += 1;
  return bytes.subarray(start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

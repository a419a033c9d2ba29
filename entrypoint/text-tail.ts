/**
 * The last bytes of an output as valid UTF-8 of at most `maxBytes`. Holds no more than about twice that,
 * whatever goes through and however small the pieces are.
 */
export class TextTail {
  readonly #maxBytes: number;
  /** The end of the output, from 0 to `#size`; grows as long as it must. */
  #kept = Buffer.alloc(0);
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes a copy. */
  push(chunk: Buffer): void {
    const news = this.#lastOf(chunk);
    this.#makeRoom(news.length);
    news.copy(this.#kept, this.#size);
    this.#size += news.length;
  }

  /** Begins at a character, not inside one; bytes that are no UTF-8 come replaced. */
  bytes(): Buffer {
    const text = cutBehind(this.#kept.subarray(0, this.#size), this.#maxBytes).toString("utf8");
    // A replacement has three bytes and may stand for one.
    return cutBehind(Buffer.from(text), this.#maxBytes);
  }

  #makeRoom(bytes: number): void {
    const needed = this.#size + bytes;
    if (needed <= this.#kept.length) return;
    const old = this.#lastOf(this.#kept.subarray(0, this.#size));
    const largest = 2 * (this.#maxBytes + 1);
    if (this.#kept.length === largest) {
      this.#kept.copyWithin(0, this.#size - old.length, this.#size);
    } else {
      const size = Math.min(Math.max(needed, 2 * this.#kept.length, firstBytes), largest);
      const larger = Buffer.allocUnsafeSlow(size);
      old.copy(larger);
      this.#kept = larger;
    }
    this.#size = old.length;
  }

  /** One byte more than will be given: it shows that there was something before. */
  #lastOf(bytes: Buffer): Buffer {
    return bytes.subarray(-(this.#maxBytes + 1));
  }
}

const firstBytes = 4096;

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

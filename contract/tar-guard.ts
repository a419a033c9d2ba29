/**
 * Watches the raw bytes of a tar before a lenient reader parses them, and admits only what this contract
 * sends: plain files and folders, whose long names may stand in a PAX `path` record. It stops what readers
 * disagree on or hang on: base-256 and out-of-range sizes, folders with a size, links and devices, GNU and
 * global PAX headers, NULs inside names, missing end blocks, bytes after them. Bounded: it holds one header
 * or one PAX record block.
 */

const blockBytes = 512;
/** One `path` record of the longest name a file system takes. */
const maxPaxBytes = 4608;
const typeFile = 0x30;
const typeFolder = 0x35;
const typePax = 0x78;

/** The bytes are not a tar that this contract sends; the message says where and why. */
export class TarError extends Error {
  override readonly name = "TarError";
}

export class TarGuard {
  #offset = 0;
  readonly #block = Buffer.alloc(blockBytes);
  #filled = 0;
  /** Body and padding bytes still to pass over. */
  #toSkip = 0;
  #pax: { readonly chunks: Buffer[]; missing: number } | undefined;
  #paxPending = false;
  #endBlocks = 0;

  /** Checks the next bytes. Throws TarError at the first that does not belong. */
  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#endBlocks === 2) this.#fail("bytes after the end blocks");
      const step =
        this.#toSkip > 0 ? this.#skipBody(chunk.subarray(at)) : this.#fillBlock(chunk.subarray(at));
      at += step;
      this.#offset += step;
    }
  }

  /** The stream is over. Throws TarError where it was cut short. */
  end(): void {
    if (this.#endBlocks !== 2) this.#fail("truncated: the two end blocks are missing");
  }

  #skipBody(rest: Uint8Array): number {
    const step = Math.min(this.#toSkip, rest.length);
    if (this.#pax !== undefined && this.#pax.missing > 0) {
      const part = Buffer.from(rest.subarray(0, Math.min(step, this.#pax.missing)));
      this.#pax.chunks.push(part);
      this.#pax.missing -= part.length;
      if (this.#pax.missing === 0) this.#checkPax(Buffer.concat(this.#pax.chunks));
    }
    this.#toSkip -= step;
    if (this.#toSkip === 0) this.#pax = undefined;
    return step;
  }

  #fillBlock(rest: Uint8Array): number {
    const step = Math.min(blockBytes - this.#filled, rest.length);
    this.#block.set(rest.subarray(0, step), this.#filled);
    this.#filled += step;
    if (this.#filled === blockBytes) {
      this.#filled = 0;
      this.#checkHeader();
    }
    return step;
  }

  #checkHeader(): void {
    const block = this.#block;
    if (block.every((byte) => byte === 0)) {
      if (this.#paxPending) this.#fail("a PAX header without its entry");
      this.#endBlocks += 1;
      return;
    }
    if (this.#endBlocks > 0) this.#fail("an entry after an end block");
    if (block.toString("latin1", 257, 263) !== "ustar\0") this.#fail("not a ustar header");
    if (!hasItsChecksum(block)) this.#fail("a header whose checksum is wrong");
    if (!isTerminated(block.subarray(0, 100)) || !isTerminated(block.subarray(345, 500))) {
      this.#fail("a name with a NUL inside");
    }
    const size = this.#size();
    const type = block[156];
    switch (type) {
      case typeFile:
        // Old tars mark folders so, and readers that know them parse the body as headers.
        if (nameEndsInSlash(block)) this.#fail("a file whose name ends in a slash");
        break;
      case typeFolder:
        if (size !== 0) this.#fail("a folder with a size");
        break;
      case typePax:
        if (this.#paxPending) this.#fail("two PAX headers in a row");
        if (size === 0 || size > maxPaxBytes) this.#fail("a PAX header of that size");
        this.#pax = { chunks: [], missing: size };
        break;
      default:
        this.#fail(`entry type 0x${(type ?? 0).toString(16)}; only files and folders are allowed`);
    }
    this.#paxPending = type === typePax;
    this.#toSkip = Math.ceil(size / blockBytes) * blockBytes;
  }

  #size(): number {
    const field = this.#block.toString("latin1", 124, 136);
    const [, digits] = /^([0-7]{1,11})[ \0]*$/.exec(field) ?? [];
    if (digits === undefined) this.#fail("a size that is not plain octal");
    return Number.parseInt(digits, 8);
  }

  /** Exactly one record, `<length> path=<name>\n`, whose length is its own. */
  #checkPax(record: Buffer): void {
    const [, length] = /^([1-9]\d{0,3}) path=[^\0\n]+\n$/.exec(record.toString("latin1")) ?? [];
    if (Number(length) !== record.length) this.#fail("a PAX header that is not one `path` record");
  }

  #fail(reason: string): never {
    throw new TarError(`${reason} (near byte ${String(this.#offset)})`);
  }
}

/** Nothing but NULs after the first NUL. */
function isTerminated(field: Uint8Array): boolean {
  const end = field.indexOf(0);
  return end === -1 || field.subarray(end).every((byte) => byte === 0);
}

function nameEndsInSlash(block: Buffer): boolean {
  return block.toString("latin1", 0, 100).replace(/\0+$/, "").endsWith("/");
}

/** The sum of all bytes, the checksum's own eight counted as blanks. */
function hasItsChecksum(block: Buffer): boolean {
  let sum = 8 * 0x20;
  for (const [index, byte] of block.entries()) if (index < 148 || index >= 156) sum += byte;
  const [, digits = ""] = /^([0-7]{1,7})[ \0]+$/.exec(block.toString("latin1", 148, 156)) ?? [];
  return Number.parseInt(digits, 8) === sum;
}

/** Parts of tars that this contract does not send (API page, The tar format), each wrong in one way. */

export interface OddTar {
  readonly what: string;
  /** From a block boundary to the end of the tar. */
  readonly parts: readonly Buffer[];
  /** Of the entry's contents, as a lenient reader would see it. */
  readonly size: number;
}

const blockBytes = 512;
const end = Buffer.alloc(2 * blockBytes);

/** A file of this name and nothing in it comes with each: lenient readers would take it. */
export function oddTars(name: string): readonly OddTar[] {
  const plain = header(name, "0", octal(0));
  const typed = (type: string): readonly Buffer[] => [header(name, type, octal(0)), end];
  const sized = (size: string): readonly Buffer[] => [header(name, "0", size), end];
  const path = record(`path=${name}`);
  return [
    odd("a link", typed("1")),
    odd("a symlink", typed("2")),
    odd("a character device", typed("3")),
    odd("a block device", typed("4")),
    odd("a folder", typed("5")),
    odd("a FIFO", typed("6")),
    odd("a contiguous file", typed("7")),
    odd("a GNU long name", [...extra("L", `${name}\0`), plain, end]),
    odd("a GNU sparse file", typed("S")),
    odd("a global PAX header", [...extra("g", path), plain, end]),
    odd("a base-256 size", [header(name, "0", base256(1)), body("x"), end], 1),
    odd("a size byte 0x81", sized("\x81")),
    odd("a negative size", sized("-0000000001 ")),
    odd("an empty size", sized("")),
    odd("a folder with a size", [header(name, "5", octal(blockBytes)), body("x"), end], blockBytes),
    odd("a file named like a folder", [header(`${name}/`, "0", octal(0)), end]),
    odd("a NUL inside a name", [header(`${name}\0b`, "0", octal(0)), end]),
    odd("a NUL inside a prefix", [edited((block) => block.write("p\0q", 345)), end]),
    odd("a GNU magic", [edited((block) => block.write("ustar  \0", 257)), end]),
    odd("a wrong checksum", [damaged(plain), end]),
    odd("a PAX size", [...extra("x", record("size=0")), plain, end]),
    odd("a PAX linkpath", [...extra("x", record("linkpath=a")), plain, end]),
    odd("two PAX records", [...extra("x", path + path), plain, end]),
    odd("a PAX record of another length", [...extra("x", `1${path}`), plain, end]),
    odd("a NUL in a PAX path", [...extra("x", record(`path=${name}\0`)), plain, end]),
    odd("two PAX headers in a row", [...extra("x", path), ...extra("x", path), plain, end]),
    odd("a PAX header at the end", [plain, ...extra("x", path), end]),
    odd("a giant PAX header", [...extra("x", record(`path=${"x".repeat(5000)}`)), plain, end]),
    odd("no end blocks", [plain]),
    odd("one end block", [plain, Buffer.alloc(blockBytes)]),
    odd("a cut body", [header(name, "0", octal(600)), body("x")], 600),
    odd("bytes after the end", [plain, end, Buffer.from("x")]),
    odd("a third end block", [plain, end, Buffer.alloc(blockBytes)]),
    odd("an entry after one end block", [Buffer.alloc(blockBytes), plain, end]),
  ];

  function edited(edit: (block: Buffer) => void): Buffer {
    return header(name, "0", octal(0), edit);
  }
}

function odd(what: string, parts: readonly Buffer[], size = 0): OddTar {
  return { what, parts, size };
}

/** One header with its checksum; `edit` changes the fields before it is summed. */
function header(
  name: string,
  type: string,
  size: string,
  edit: (block: Buffer) => void = () => undefined,
): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0, 100, "latin1");
  block.write("0000644 \0", 100);
  block.write(size, 124, 12, "latin1");
  block.write(type, 156);
  block.write("ustar\u000000", 257, "latin1");
  edit(block);
  block.write("        ", 148);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** A header that says something of the next one, with its contents. */
function extra(type: string, contents: string): readonly Buffer[] {
  return [header("extra", type, octal(contents.length)), body(contents)];
}

/** A PAX record, which begins with its own length. */
function record(text: string): string {
  const rest = text.length + 2;
  const length = rest + String(rest + String(rest).length).length;
  return `${String(length)} ${text}\n`;
}

function body(text: string): Buffer {
  const padded = Buffer.alloc(Math.ceil(text.length / blockBytes) * blockBytes);
  padded.write(text, "latin1");
  return padded;
}

function octal(size: number): string {
  return `${size.toString(8).padStart(11, "0")} `;
}

function base256(size: number): string {
  return `\x80${"\0".repeat(10)}${String.fromCharCode(size)}`;
}

/** Changed after it was summed. */
function damaged(block: Buffer): Buffer {
  const changed = Buffer.from(block);
  changed[100] = (changed[100] ?? 0) ^ 1;
  return changed;
}

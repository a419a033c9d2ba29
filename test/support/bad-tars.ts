/** Tars that this contract does not send, each wrong in one way: name and parts. */

const end = Buffer.alloc(1024);

/** One header with its checksum; `edit` changes the fields before it is summed. */
function header(
  name: string,
  type: string,
  size: string,
  edit: (block: Buffer) => void = () => undefined,
): Buffer {
  const block = Buffer.alloc(512);
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

function body(text: string): Buffer {
  const padded = Buffer.alloc(Math.ceil(text.length / 512) * 512);
  padded.write(text);
  return padded;
}

const octal = (size: number): string => `${size.toString(8).padStart(11, "0")} `;

export const badTars: readonly (readonly [string, readonly Buffer[]])[] = [
  ["a link", [header("a", "1", octal(0)), end]],
  ["a symlink", [header("a", "2", octal(0)), end]],
  ["a character device", [header("a", "3", octal(0)), end]],
  ["a block device", [header("a", "4", octal(0)), end]],
  ["a FIFO", [header("a", "6", octal(0)), end]],
  ["a contiguous file", [header("a", "7", octal(0)), end]],
  ["a GNU long name", [header("a", "L", octal(5)), body("name\0"), end]],
  ["a GNU sparse file", [header("a", "S", octal(0)), end]],
  ["a global PAX header", [header("a", "g", octal(10)), body("10 path=a\n"), end]],
  [
    "a base-256 size",
    [
      header("a", "0", "", (b) => b.write("\x80\0\0\0\0\0\0\0\0\0\0\x01", 124, "latin1")),
      body("x"),
      end,
    ],
  ],
  ["a size byte 0x81", [header("a", "0", "", (b) => b.write("\x81", 124, "latin1")), end]],
  ["a negative size", [header("a", "0", "-0000000001 "), end]],
  ["an empty size", [header("a", "0", ""), end]],
  ["a folder with a size", [header("a", "5", octal(512)), body("x"), end]],
  ["a file named like a folder", [header("a/", "0", octal(512)), body("x"), end]],
  ["a NUL inside a name", [header("a\0b", "0", octal(0)), end]],
  ["a NUL inside a prefix", [header("a", "0", octal(0), (b) => b.write("p\0q", 345)), end]],
  ["a GNU magic", [header("a", "0", octal(0), (b) => b.write("ustar  \0", 257)), end]],
  [
    "a wrong checksum",
    [
      (() => {
        const b = header("a", "0", octal(0));
        b[0] = 0x62;
        return b;
      })(),
      end,
    ],
  ],
  [
    "a PAX size",
    [header("P", "x", octal(10)), body("10 size=9\n"), header("a", "0", octal(0)), end],
  ],
  [
    "a PAX linkpath",
    [header("P", "x", octal(14)), body("14 linkpath=a\n"), header("a", "0", octal(0)), end],
  ],
  [
    "two PAX records",
    [header("P", "x", octal(20)), body("10 path=a\n10 path=b\n"), header("a", "0", octal(0)), end],
  ],
  [
    "a PAX record of another length",
    [header("P", "x", octal(10)), body("11 path=a\n"), header("a", "0", octal(0)), end],
  ],
  [
    "a NUL in a PAX path",
    [header("P", "x", octal(11)), body("11 path=a\0\n"), header("a", "0", octal(0)), end],
  ],
  [
    "two PAX headers in a row",
    [
      header("P", "x", octal(10)),
      body("10 path=a\n"),
      header("P", "x", octal(10)),
      body("10 path=a\n"),
      header("a", "0", octal(0)),
      end,
    ],
  ],
  ["a PAX header at the end", [header("P", "x", octal(10)), body("10 path=a\n"), end]],
  [
    "a giant PAX header",
    [header("P", "x", octal(5000)), body("x".repeat(5000)), header("a", "0", octal(0)), end],
  ],
  ["no end blocks", [header("a", "0", octal(0))]],
  ["one end block", [header("a", "0", octal(0)), Buffer.alloc(512)]],
  ["a cut body", [header("a", "0", octal(600)), body("x")]],
  ["bytes after the end", [header("a", "0", octal(0)), end, Buffer.from("x")]],
  ["a third end block", [header("a", "0", octal(0)), end, Buffer.alloc(512)]],
  ["an entry after one end block", [Buffer.alloc(512), header("a", "0", octal(0)), end]],
  ["nothing at all", []],
];

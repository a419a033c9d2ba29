import * as fc from "fast-check";
import { extract, pack } from "tar-stream";
import { describe, expect, it } from "vitest";
import { hashBody } from "../../contract/hashed-body.ts";
import { fileHeader, folderHeader } from "../../contract/pack.ts";
import { badTars } from "../support/bad-tars.ts";
import { TarError, TarGuard } from "../../contract/tar-guard.ts";

function check(...parts: readonly Buffer[]): void {
  const guard = new TarGuard();
  guard.push(Buffer.concat(parts));
  guard.end();
}

describe("TarGuard", () => {
  it("admits what this contract sends: files, folders, names of any length", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 520 }), fc.uint8Array({ maxLength: 2000 })), {
          maxLength: 8,
        }),
        fc.integer({ min: 1, max: 1500 }),
        async (files, chunkSize) => {
          const tar = pack();
          tar.entry(folderHeader("folder"));
          for (const [length, bytes] of files) {
            tar.entry(fileHeader("n".repeat(length), bytes.length), Buffer.from(bytes));
          }
          tar.finalize();
          const whole = Buffer.concat((await hashBody(tar)).chunks);
          const guard = new TarGuard();
          for (let at = 0; at < whole.length; at += chunkSize)
            guard.push(whole.subarray(at, at + chunkSize));
          guard.end();
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each(badTars)("refuses %s", (_, parts) => {
    expect(() => check(...parts)).toThrow(TarError);
  });

  it("lets through only bytes that the tar reader reads the same way", async () => {
    // Random damage to a good tar: where the guard admits it, the reader must end and see only files and
    // folders.
    const tar = pack();
    tar.entry(fileHeader("values/a.b", 3), "abc");
    tar.entry(fileHeader("n".repeat(150), 700), Buffer.alloc(700, 0x61));
    tar.entry(folderHeader("f"));
    tar.finalize();
    const whole = Buffer.concat((await hashBody(tar)).chunks);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.integer({ min: 0, max: 255 }),
        async (at, byte) => {
          const damaged = Buffer.from(whole);
          damaged[at] = byte;
          try {
            check(damaged);
          } catch (error) {
            expect(error).toBeInstanceOf(TarError);
            return;
          }
          const reader = extract();
          reader.end(damaged);
          const types = [];
          for await (const entry of reader) {
            types.push(entry.header.type);
            entry.resume();
          }
          expect(types).toEqual(["file", "file", "directory"]);
        },
      ),
      { numRuns: 400 },
    );
  });
});

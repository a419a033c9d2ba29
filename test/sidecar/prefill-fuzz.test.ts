import * as fc from "fast-check";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pack as createTar } from "tar-stream";
import { expect, it } from "vitest";
import { sidecarCodes } from "../../contract/codes.ts";
import { hashBody } from "../../contract/hashed-body.ts";
import { parseStepPath } from "../../contract/ids.ts";
import { fileHeader, folderHeader } from "../../contract/pack.ts";
import { formatContentDigest } from "../../contract/tar-feed.ts";
import { PrefillWriter } from "../../sidecar/prefill-writer.ts";
import { SidecarError } from "../../sidecar/sidecar-error.ts";
import { unpackPrefill } from "../../sidecar/unpack-prefill.ts";
import { withRoot } from "../support/with-root.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** `npm run test:fuzz` asks for more. */
const runs = Number(process.env["FUZZ_RUNS"] ?? 500);

const tar = createTar();
tar.entry(fileHeader(".step", 2), "{}");
tar.entry(folderHeader("workflow"));
tar.entry(fileHeader("workflow/item.uuid", 3), "abc");
tar.entry(fileHeader("inspect/findings/HIGH", 600), "x".repeat(600));
tar.entry(fileHeader(`deep/${"s".repeat(64)}/${"t".repeat(64)}/LEAF`, 5), "value");
tar.finalize();
const valid = Buffer.concat((await hashBody(tar)).chunks);

/**
 * A change to the bytes: some set, some cut out, some doubled, two blocks swapped, the end lost or more put
 * behind it.
 */
type Mutation = (bytes: Buffer) => Buffer;
const place = fc.nat(valid.length - 1);
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 12 })).map(
    ([at, bytes]): Mutation =>
      (old) =>
        Buffer.concat([old.subarray(0, at), bytes, old.subarray(at + bytes.length)]),
  ),
  fc
    .tuple(
      fc.nat(valid.length / 512 - 1),
      fc.constantFrom("../x", "/etc/x", "1", "2", "5", "L", "x", "g", "\x80", "77777777777"),
      fc.constantFrom(0, 124, 156, 257, 345),
    )
    .map(
      // A header field of some block, with its checksum made right: what an attacker would send.
      ([block, text, field]): Mutation =>
        (old) => {
          const bytes = Buffer.from(old);
          const header = bytes.subarray(block * 512, block * 512 + 512);
          if (header.length < 512) return bytes;
          header.write(text, field, "latin1");
          header.write("        ", 148);
          const sum = header.reduce((total, byte) => total + byte, 0);
          header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
          return bytes;
        },
    ),
  fc.tuple(place, place).map(
    ([a, b]): Mutation =>
      (old) =>
        Buffer.concat([old.subarray(0, Math.min(a, b)), old.subarray(Math.max(a, b))]),
  ),
  fc.tuple(place, place).map(
    ([a, b]): Mutation =>
      (old) =>
        Buffer.concat([old, old.subarray(Math.min(a, b), Math.max(a, b))]),
  ),
  fc
    .tuple(fc.nat(valid.length / 512 - 1), fc.nat(valid.length / 512 - 1))
    .map(([a, b]): Mutation => (old) => {
      if (old.length < 512 * (Math.max(a, b) + 1)) return old;
      const bytes = Buffer.from(old);
      old.copy(bytes, a * 512, b * 512, b * 512 + 512);
      old.copy(bytes, b * 512, a * 512, a * 512 + 512);
      return bytes;
    }),
);

it(
  "prefill never writes outside its root, never crashes, and always leaves a code",
  { timeout: 600_000 },
  async () => {
    const step = parseStepPath("judge");
    if (step === undefined) throw new Error("unreachable");
    const around = tempFolder();
    const root = join(around, "root");
    let [accepted, refused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 4096 }),
        async (mutations, chunkSize) => {
          rmSync(root, { recursive: true, force: true });
          mkdirSync(root);
          const body = mutations.reduce<Buffer>((bytes, mutate) => mutate(bytes), valid);
          const chunks = [];
          for (let at = 0; at < body.length; at += chunkSize)
            chunks.push(body.subarray(at, at + chunkSize));
          const digest = formatContentDigest(createHash("sha256").update(body).digest());
          const answer = {
            headers: { "content-digest": digest },
            body: Readable.from(chunks, { objectMode: false }),
          };
          try {
            await withRoot(root, (fd) => unpackPrefill(answer, step, new PrefillWriter(fd)));
            accepted += 1;
          } catch (error) {
            expect(error).toBeInstanceOf(SidecarError);
            expect(sidecarCodes).toContain((error as SidecarError).code);
            refused += 1;
          }
          expect(readdirSync(around)).toEqual(["root"]);
          for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
            const stats = lstatSync(join(entry.parentPath, entry.name));
            expect(stats.isFile() || stats.isDirectory()).toBe(true);
          }
          expect(
            readdirSync(root).filter((name) => name.startsWith(".") && name !== ".step"),
          ).toEqual([]);
        },
      ),
      { numRuns: runs },
    );
    // Both kinds were met, so the mutations are neither harmless nor blind.
    expect(refused).toBeGreaterThan(runs / 4);
    expect(accepted + refused).toBe(runs);
  },
);

it("takes the tar that the mutations start from", async () => {
  const step = parseStepPath("judge");
  if (step === undefined) throw new Error("unreachable");
  const root = tempFolder();
  const digest = formatContentDigest(createHash("sha256").update(valid).digest());
  const answer = {
    headers: { "content-digest": digest },
    body: Readable.from([valid], { objectMode: false }),
  };
  const done = await withRoot(root, (fd) => unpackPrefill(answer, step, new PrefillWriter(fd)));
  expect(done).toEqual({ files: 4, bytes: 610 });
  expect(readFileSync(join(root, "workflow/item.uuid"), "utf8")).toBe("abc");
});

import { createHash } from "node:crypto";

/** A tar held whole, so that its length and digest can go before it and so that it can be sent again. */
export interface HashedBody {
  readonly chunks: readonly Buffer[];
  /** Bytes. */
  readonly size: number;
  readonly sha256: Buffer;
}

/** Takes a finished tar writer's chunks as they are, without copying. */
export async function hashBody(tar: AsyncIterable<unknown>): Promise<HashedBody> {
  const chunks: Buffer[] = [];
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of tar) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError("a tar chunk is not bytes");
    chunks.push(chunk);
    hash.update(chunk);
    size += chunk.length;
  }
  return { chunks, size, sha256: hash.digest() };
}

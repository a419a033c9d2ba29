import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";

const maxDrainedBytes = 32 * 1024 ** 2;
const maxDrainMs = 10_000;

/**
 * Reads the rest of a refused body, so that the answer is not lost to a connection reset; a sender that has
 * far more to say is cut off.
 */
export async function drain(body: Readable): Promise<void> {
  let left = maxDrainedBytes;
  body.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) body.destroy();
  });
  body.resume();
  await finished(body, { signal: AbortSignal.timeout(maxDrainMs) }).catch(() => body.destroy());
}

import type { Hash } from "node:crypto";
import { TarGuard } from "./tar-guard.ts";

/** What is needed of a tar reader, whichever it is. */
export interface TarSink {
  readonly destroyed: boolean;
  write(chunk: Uint8Array): boolean;
  end(data: null): unknown;
  destroy(error: Error): unknown;
  on(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
}

/**
 * Passes a body to a lenient tar reader, each byte only after the guard has seen it and the hash has counted
 * it. Ends the reader at the body's end and destroys it with whatever went wrong. Throws TarError for what
 * the guard refuses, else what the body throws.
 */
export async function feedTar(
  body: AsyncIterable<unknown>,
  hash: Hash,
  tar: TarSink,
): Promise<void> {
  const guard = new TarGuard();
  try {
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError("a body chunk is not bytes");
      guard.push(chunk);
      hash.update(chunk);
      // A reader that gave up emits nothing more to wait for.
      if (!tar.write(chunk) && !tar.destroyed) await drained(tar);
      if (tar.destroyed) return;
    }
    guard.end();
    tar.end(null);
  } catch (error) {
    tar.destroy(error instanceof Error ? error : new Error("the body broke"));
    throw error;
  }
}

async function drained(tar: TarSink): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      tar.off("drain", done);
      tar.off("close", done);
      resolve();
    };
    tar.on("drain", done);
    tar.on("close", done);
  });
}

/** The base64 digest in a `Content-Digest: sha-256=:…:` header; undefined where it is not exactly that. */
export function parseContentDigest(header: unknown): string | undefined {
  if (typeof header !== "string") return undefined;
  return /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(header)?.[1];
}

export function formatContentDigest(sha256: Buffer): string {
  return `sha-256=:${sha256.toString("base64")}:`;
}

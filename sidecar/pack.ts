import { pack as createTar } from "tar-stream";
import { hashBody, type HashedBody } from "../contract/hashed-body.ts";
import { fileHeader, manifestName, valuesFolder, type PackManifest } from "../contract/pack.ts";
import type { Limits } from "../contract/limits.ts";
import { version } from "../contract/version.ts";
import type { Collected } from "./collect.ts";
import type { Target } from "./config.ts";

/** The body of a delivery, held whole so that it can be sent again byte for byte. */
export interface Pack extends HashedBody {
  readonly manifest: PackManifest;
}

/** Builds the tar (WV-11). The same collected values and target give the same bytes. */
export async function buildPack(
  collected: Collected,
  target: Target,
  limits: Limits,
): Promise<Pack> {
  const { completion, values, rejected, skipped, more } = collected;
  const manifest: PackManifest = {
    version: 1,
    run: target.run,
    step: target.step.text,
    attempt: target.attempt,
    instance: target.instance,
    completion,
    limits,
    variables: values.map(({ key, bytes }) => ({ key, size: bytes.length })),
    rejected,
    skipped,
    more,
    sidecar: version,
  };
  const tar = createTar();
  const json = Buffer.from(JSON.stringify(manifest));
  tar.entry(fileHeader(manifestName, json.length), json);
  for (const { key, bytes } of values) {
    tar.entry(fileHeader(valuesFolder + key, bytes.length), bytes);
  }
  tar.finalize();
  return { manifest, ...(await hashBody(tar)) };
}

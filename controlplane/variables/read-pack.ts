import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { extract, type Extract, type Header } from "tar-stream";
import { escapePath } from "../../contract/escape.ts";
import { compareKeys, parseKey } from "../../contract/key.ts";
import { leafShadowsFolder } from "../../contract/layout.ts";
import { maxManifestBytes, maxPackBytes, type Limits } from "../../contract/limits.ts";
import { manifestName, valuesFolder, type PackManifest } from "../../contract/pack.ts";
import { packCodes } from "../../contract/codes.ts";
import { isOneOf } from "../../contract/json.ts";
import type { DeclaredOutput } from "../../contract/step-file.ts";
import { feedTar } from "../../contract/tar-feed.ts";
import { TarError } from "../../contract/tar-guard.ts";
import { packManifest } from "../../contract/wire.ts";
import { ApiError } from "../api-error.ts";
import type { NewValue } from "../store/store.ts";
import { toValue } from "./frozen-inputs.ts";

/**
 * Reads a pack as if the sidecar were hostile (API page, Pack): every limit, key, size and byte is checked
 * again here, against the run's own limits. Holds no more than one step's limit in memory.
 */

export interface PackIdentity {
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
  readonly instance: string;
}

export interface ReadPack {
  readonly manifest: PackManifest;
  readonly values: readonly NewValue[];
  /** Of the body, 64 hex digits. */
  readonly sha256: string;
}

/** A pack as it comes in. */
export interface SentPack {
  readonly body: AsyncIterable<unknown>;
  /** Bytes of the body, which the HTTP parser holds it to. */
  readonly size: number;
  /** SHA-256 of the body as announced, base64. */
  readonly digest: string;
}

/**
 * `outputs`: what the step's stamp declares; they give values their kinds. Throws `invalid_pack` naming the field,
 * `digest_mismatch`, or `too_large`; else what the body throws.
 */
export async function readPack(
  { body, size, digest }: SentPack,
  identity: PackIdentity,
  limits: Limits,
  outputs: readonly DeclaredOutput[],
): Promise<ReadPack> {
  const maxBytes = maxPackBytes(limits);
  if (size > maxBytes) {
    const sizes = `${String(size)} bytes; the limit is ${String(maxBytes)}`;
    throw new ApiError("too_large", `the pack has ${sizes}`);
  }
  const hash = createHash("sha256");
  const tar = extract();
  const [read, fed] = await Promise.allSettled([
    readEntries(tar, identity, limits),
    feedTar(body, hash, tar),
  ]);
  if (fed.status === "rejected" && fed.reason instanceof TarError)
    invalid("tar", fed.reason.message);
  if (read.status === "rejected") throw read.reason;
  if (fed.status === "rejected") throw fed.reason;
  const sha256 = hash.digest();
  if (sha256.toString("base64") !== digest) {
    throw new ApiError("digest_mismatch", "the body does not match its Content-Digest");
  }
  const kinds = new Map(outputs.map(({ key, kind }) => [`${identity.step}.${key}`, kind]));
  const values = read.value.values.map(({ key, bytes }) => toValue(key, bytes, kinds.get(key)));
  return { manifest: read.value.manifest, values, sha256: sha256.toString("hex") };
}

async function readEntries(
  tar: Extract,
  identity: PackIdentity,
  limits: Limits,
): Promise<{ manifest: PackManifest; values: { key: string; bytes: Buffer }[] }> {
  let manifest: PackManifest | undefined;
  const values: { key: string; bytes: Buffer }[] = [];
  for await (const entry of tar) {
    const { header } = entry;
    if (manifest === undefined) {
      expectEntry(header, manifestName);
      if (header.size > maxManifestBytes) {
        invalid(manifestName, `more than ${String(maxManifestBytes)} bytes`);
      }
      manifest = parseManifest(await readBytes(entry), identity);
      checkVariables(manifest, limits);
      continue;
    }
    const announced = manifest.variables[values.length];
    if (announced === undefined) invalid("values", "more entries than variables");
    expectEntry(header, valuesFolder + announced.key);
    if (header.size !== announced.size) invalid(announced.key, "its size is not the announced one");
    const bytes = await readBytes(entry);
    if (!isUtf8(bytes)) invalid(announced.key, "not UTF-8");
    values.push({ key: announced.key, bytes });
  }
  if (manifest === undefined) invalid(manifestName, "missing");
  if (values.length < manifest.variables.length) invalid("values", "fewer entries than variables");
  return { manifest, values };
}

function expectEntry({ type, name }: Header, expected: string): void {
  if (type !== "file") invalid("tar", "an entry that is not a file");
  if (name !== expected) invalid("tar", `expected the entry ${expected}`);
}

async function readBytes(entry: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of entry) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError("a tar chunk is not bytes");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseManifest(bytes: Buffer, identity: PackIdentity): PackManifest {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    invalid(manifestName, "not JSON");
  }
  const parsed = packManifest.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = [manifestName, issue?.path.join(".")].filter(Boolean).join(" ");
    invalid(field, issue?.message ?? "not valid");
  }
  for (const field of ["run", "step", "attempt", "instance"] as const) {
    if (parsed.data[field] !== identity[field]) invalid(field, "not the one this call is for");
  }
  return parsed.data;
}

/** Limits in their order: entries are the sidecar's alone to count; files before bytes. */
function checkVariables({ variables, rejected, step }: PackManifest, limits: Limits): void {
  if (variables.length > limits.max_step_files) {
    invalid("variables", `more than ${String(limits.max_step_files)} files`);
  }
  if (variables.length > 0 && rejected.some(({ code }) => isOneOf(packCodes, code))) {
    invalid("variables", "not empty although a limit of the whole pack was exceeded");
  }
  let total = 0;
  let previous = "";
  const folders = new Set<string>();
  for (const { key, size } of variables) {
    const parsed = parseKey(key);
    if ("problem" in parsed || key !== key.toLowerCase() || !key.startsWith(`${step}.`)) {
      const escaped = escapePath(Buffer.from(key)).slice(0, 100);
      invalid("variables", `"${escaped}" is no key of this step`);
    }
    if (compareKeys(previous, key) >= 0) invalid("variables", `${key} is out of order or twice`);
    if (size > limits.max_value_bytes) {
      invalid(key, `${String(size)} bytes; the limit is ${String(limits.max_value_bytes)}`);
    }
    for (let end = key.lastIndexOf("."); end > 0; end = key.lastIndexOf(".", end - 1)) {
      folders.add(key.slice(0, end));
    }
    total += size;
    previous = key;
  }
  if (total > limits.max_step_bytes) {
    invalid("variables", `${String(total)} bytes; the limit is ${String(limits.max_step_bytes)}`);
  }
  for (const { key } of variables) {
    if (folders.has(key) && leafShadowsFolder(key.slice(key.lastIndexOf(".") + 1))) {
      invalid(key, "a file and a folder of one spelling");
    }
  }
}

function invalid(field: string, problem: string): never {
  throw new ApiError("invalid_pack", `${field}: ${problem}`);
}

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defaultLimits, type Limits } from "../../contract/limits.ts";
import type { PackIdentity } from "../../controlplane/variables/read-pack.ts";
import type { MissingOutputPolicy } from "../../controlplane/store/store.ts";
import type { DeclaredOutput } from "../../contract/step-file.ts";
import { goodMarker } from "../support/packs.ts";
import { bytesOf, type Content } from "./vector.ts";

/** The cases of `spec/vectors/packs/*.json`; the README beside them describes the format. */

export interface PackVector {
  readonly name: string;
  /** `WV-11` */
  readonly clause: string;
  /** Over `r-1`, `judge`, 1, `pod-1`. */
  readonly call?: Partial<PackIdentity>;
  /** Of the run, over the defaults. */
  readonly limits?: Partial<Limits>;
  /** Full key to value: variables of pack.json, and entries. */
  readonly values?: Readonly<Record<string, Content>>;
  /** Replaces members of pack.json. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** Members of pack.json that are not there, `completion.marker`. */
  readonly without?: readonly string[];
  /** Replaces the bytes of pack.json. */
  readonly json?: Content;
  /** Replaces the parts of the body. */
  readonly tar?: readonly TarPart[];
  /** What Content-Digest is of, instead of the body. */
  readonly digestOf?: Content;
  readonly outputs?: readonly (Partial<DeclaredOutput> & Pick<DeclaredOutput, "key">)[];
  readonly missingOutput?: MissingOutputPolicy;
  /** Of a pack that is accepted: its values, where `values` does not say. */
  readonly holds?: Readonly<Record<string, Content>>;
  /** Of a pack that is accepted: the receipt without run, step, attempt and digest. */
  readonly receipt?: Readonly<Record<string, unknown>>;
  /** Of a pack that is accepted: members of pack.json that are read otherwise than they were sent; null is gone. */
  readonly reads?: Readonly<Record<string, unknown>>;
  /** Of a refusal. */
  readonly code?: string;
  readonly status?: number;
  /** What the refusal's detail begins with. */
  readonly field?: string;
}

export type TarPart =
  | "pack.json"
  | "values"
  | "end"
  | { readonly bytes: Content }
  | ({ readonly content?: Content } & Readonly<Partial<Record<HeaderField, Content>>>);

export interface PackVectorFile {
  readonly name: string;
  readonly about: string;
  readonly cases: readonly PackVector[];
}

/** What a reader is given. */
export interface SentVector {
  readonly body: Buffer;
  /** SHA-256 as announced, base64. */
  readonly digest: string;
  readonly call: PackIdentity;
  readonly limits: Limits;
  readonly outputs: readonly DeclaredOutput[];
  readonly missingOutput: MissingOutputPolicy;
}

const folder = resolve(import.meta.dirname, "..", "..", "spec", "vectors", "packs");
const defaultCall: PackIdentity = { run: "r-1", step: "judge", attempt: 1, instance: "pod-1" };

export function packVectorFiles(): PackVectorFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.toSorted().map((file) => {
    const read = JSON.parse(readFileSync(join(folder, file), "utf8")) as PackVectorFile;
    return { ...read, name: file.replace(/\.json$/, "") };
  });
}

export function sentOf(vector: PackVector): SentVector {
  const body = bodyOf(vector);
  const { digestOf, outputs = [], missingOutput = "warn" } = vector;
  const digested = digestOf === undefined ? body : bytesOf(digestOf, "");
  return {
    body,
    digest: createHash("sha256").update(digested).digest("base64"),
    call: { ...defaultCall, ...vector.call },
    limits: { ...defaultLimits, ...vector.limits },
    outputs: outputs.map((output) => ({ kind: "text", required: true, ...output })),
    missingOutput,
  };
}

/** `pack.json` as it is sent, before `json` replaces its bytes. */
export function manifestOf({ call, limits, values = {}, manifest, without = [] }: PackVector): {
  [name: string]: unknown;
} {
  const variables = Object.entries(values).map(([key, value]) => {
    return { key, size: bytesOf(value, "").length };
  });
  const whole = structuredClone({
    version: 1,
    ...defaultCall,
    ...call,
    completion: { by: "marker", marker: goodMarker },
    limits: { ...defaultLimits, ...limits },
    variables,
    rejected: [],
    skipped: [],
    more: {},
    sidecar: "0.1.0",
    ...manifest,
  });
  for (const path of without) remove(whole, path.split("."));
  return whole;
}

function remove(from: { [name: string]: unknown }, [name = "", ...rest]: string[]): void {
  if (rest.length === 0) delete from[name];
  else remove(from[name] as { [name: string]: unknown }, rest);
}

function bodyOf(vector: PackVector): Buffer {
  const { values = {}, tar = ["pack.json", "values", "end"] } = vector;
  const json = vector.json ?? JSON.stringify(manifestOf(vector));
  const parts = tar.flatMap((part): Buffer[] => {
    if (part === "pack.json") return tarEntry({ name: part, content: json });
    if (part === "end") return [Buffer.alloc(1024)];
    if (part === "values") {
      return Object.entries(values).flatMap(([key, content]) =>
        tarEntry({ name: `values/${key}`, content }),
      );
    }
    return "bytes" in part ? [bytesOf(part.bytes, "")] : tarEntry(part);
  });
  return Buffer.concat(parts);
}

/** Where a field stands in a header, and its length. */
const headerFields = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  linkname: [157, 100],
  magic: [257, 8],
  prefix: [345, 155],
} as const;
type HeaderField = keyof typeof headerFields;

/** Of one entry: header, content and padding; the header's fields as they are given, byte for byte. */
export function tarEntry(part: Exclude<TarPart, string | { bytes: Content }>): Buffer[] {
  const content = bytesOf(part.content ?? "", "");
  const fields = {
    mode: "0000444\0",
    uid: "0000000\0",
    gid: "0000000\0",
    size: `${content.length.toString(8).padStart(11, "0")}\0`,
    mtime: `${"0".repeat(11)}\0`,
    type: "0",
    magic: "ustar\u000000",
    ...part,
  };
  const block = Buffer.alloc(512);
  for (const [field, [at, length]] of Object.entries(headerFields)) {
    const bytes = bytesOf(fields[field as keyof typeof fields] ?? "", "");
    if (bytes.length > length) throw new RangeError(`${field} is too long for a header`);
    block.set(bytes, at);
  }
  if (part.checksum === undefined) {
    block.fill(" ", 148, 156);
    const sum = block.reduce((total, byte) => total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  }
  return [block, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
}

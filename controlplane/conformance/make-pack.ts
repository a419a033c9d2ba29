import { pack as createTar } from "tar-stream";
import { hashBody } from "../../contract/hashed-body.ts";
import type { Marker } from "../../contract/marker.ts";
import { fileHeader, manifestName, valuesFolder, type PackManifest } from "../../contract/pack.ts";
import { version } from "../../contract/version.ts";
import type { FreshStep } from "./fixture.ts";
import { firstInstance } from "./subject.ts";

export interface PackSpec {
  /** Key relative to the step to value, in the order of the pack. */
  readonly values?: Readonly<Record<string, string | Buffer>>;
  readonly instance?: string;
  /** Replaces members of `pack.json`. */
  readonly manifest?: object;
  /** Replaces the bytes of `pack.json`. */
  readonly json?: Buffer;
  /** Replaces the entries behind `pack.json`. */
  readonly entries?: readonly TarEntry[];
}

/** Name and contents of a file. */
export type TarEntry = readonly [string, string | Buffer];

/** Of an agent that went well. */
export const goodMarker: Marker = {
  version: 1,
  outcome: "succeeded",
  exit_code: 0,
  signal: null,
  started_at: "2026-01-01T00:00:00Z",
  finished_at: "2026-01-01T00:00:01Z",
  finalize: { status: "none", failed: [] },
  kit: version,
};

/** The bytes that end a tar. */
export const endBlocks = Buffer.alloc(1024);

/** A pack as a sidecar makes it for the step (WV-11) or, with overrides, as none ever would. */
export async function makePack(step: FreshStep, spec: PackSpec = {}): Promise<Buffer> {
  const values = Object.entries(spec.values ?? {}).map(
    ([key, value]) => [`${step.step}.${key}`, Buffer.from(value)] as const,
  );
  const json = spec.json ?? Buffer.from(JSON.stringify({ ...manifestOf(step, values, spec) }));
  const entries = values.map(([key, value]) => [valuesFolder + key, value] as const);
  return makeTar([[manifestName, json], ...(spec.entries ?? entries)]);
}

/** A tar of these files, in this order. */
export async function makeTar(entries: readonly TarEntry[]): Promise<Buffer> {
  const tar = createTar();
  for (const [name, contents] of entries) {
    const bytes = Buffer.from(contents);
    tar.entry(fileHeader(name, bytes.length), bytes);
  }
  tar.finalize();
  return Buffer.concat((await hashBody(tar)).chunks);
}

function manifestOf(
  { run, step, attempt, limits }: FreshStep,
  values: readonly (readonly [string, Buffer])[],
  { instance = firstInstance, manifest }: PackSpec,
): PackManifest {
  return {
    version: 1,
    run,
    step,
    attempt,
    instance,
    completion: { by: "marker", marker: goodMarker },
    limits,
    variables: values.map(([key, bytes]) => ({ key, size: bytes.length })),
    rejected: [],
    skipped: [],
    more: {},
    sidecar: version,
    ...manifest,
  };
}

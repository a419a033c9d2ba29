import { createHash } from "node:crypto";
import { defaultLimits } from "../../contract/limits.ts";
import type { Marker } from "../../contract/marker.ts";
import type { PackManifest } from "../../contract/pack.ts";
import { formatContentDigest } from "../../contract/tar-feed.ts";
import { makeTar } from "../../controlplane/conformance/make-pack.ts";

export const goodMarker: Marker = {
  version: 1,
  outcome: "succeeded",
  exit_code: 0,
  signal: null,
  started_at: "2026-12-01T00:00:00Z",
  finished_at: "2026-12-01T00:00:01Z",
  finalize: { status: "none", failed: [] },
  kit: "0.1.0",
};

export interface PackSpec {
  readonly run: string;
  readonly step: string;
  readonly attempt?: number;
  readonly instance?: string;
  /** Full key to value. */
  readonly values?: Readonly<Record<string, string | Buffer>>;
  /** Replaces members of pack.json. */
  readonly manifest?: object;
  /** Replaces the entries after pack.json: name and bytes. */
  readonly entries?: readonly (readonly [string, string | Buffer])[];
  readonly marker?: Marker | null;
}

/** A pack as a sidecar makes it, or, with overrides, as a hostile one would. */
export async function makePack(spec: PackSpec): Promise<Buffer> {
  const { run, step, attempt = 1, instance = "pod-1", values = {}, marker = goodMarker } = spec;
  const given = Object.entries(values).map(([key, value]) => [key, Buffer.from(value)] as const);
  const manifest: PackManifest = {
    version: 1,
    run,
    step,
    attempt,
    instance,
    completion: { by: "marker", marker },
    limits: defaultLimits,
    variables: given.map(([key, bytes]) => ({ key, size: bytes.length })),
    rejected: [],
    skipped: [],
    more: {},
    sidecar: "0.1.0",
  };
  const json = Buffer.from(JSON.stringify({ ...manifest, ...spec.manifest }));
  const entries = spec.entries ?? given.map(([key, bytes]) => [`values/${key}`, bytes] as const);
  return makeTar([["pack.json", json], ...entries]);
}

export interface PutOptions {
  readonly token: string;
  readonly attempt?: number;
  readonly instance?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a body as a pack. */
export async function putPack(
  stepUrl: string,
  run: string,
  step: string,
  body: Buffer,
  { token, attempt = 1, instance = "pod-1", headers = {} }: PutOptions,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const response = await fetch(
    `${stepUrl}/v1/runs/${run}/steps/${step}/pack?attempt=${String(attempt)}`,
    {
      method: "PUT",
      headers: {
        authorization: `Bearer ${token}`,
        "wfvar-instance": instance,
        "content-type": "application/x-tar",
        "content-digest": contentDigestOf(body),
        ...headers,
      },
      body: new Uint8Array(body),
    },
  );
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

/** The `Content-Digest` of a body. */
export function contentDigestOf(body: Buffer): string {
  return formatContentDigest(createHash("sha256").update(body).digest());
}

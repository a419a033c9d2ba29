import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { ApiError } from "../../controlplane/api-error.ts";
import { judgeStep } from "../../controlplane/variables/judge-step.ts";
import { readPack } from "../../controlplane/variables/read-pack.ts";
import { pythonInterpreter } from "../support/python-interpreter.ts";
import type { SentVector } from "./pack-vector.ts";

/** What a reader makes of a pack; bytes are base64. */
export type PackOutcome =
  | {
      readonly manifest: Readonly<Record<string, unknown>>;
      readonly values: Readonly<Record<string, string>>;
      readonly receipt: Readonly<Record<string, unknown>>;
    }
  | { readonly code: string; readonly status: number; readonly detail: string };

/** Through the shipped control plane's reader. */
export async function readInJavaScript(sent: SentVector): Promise<PackOutcome> {
  const { body, digest, call, limits, outputs, missingOutput } = sent;
  try {
    const stream = { body: inChunks(body), size: body.length, digest };
    const pack = await readPack(stream, call, limits, outputs);
    const { run, step, attempt } = pack.manifest;
    const values = pack.values.map(({ key, bytes }) => [key, bytes.toString("base64")] as const);
    const judged = judgeStep(pack.manifest, outputs, missingOutput);
    return {
      manifest: { ...pack.manifest },
      values: Object.fromEntries(values),
      receipt: { run, step, attempt, sha256: pack.sha256, ...judged },
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, status: error.status, detail: error.message };
  }
}

/** Through `wfvar_cp.py`, all in one process. */
export function readInPython(sent: readonly SentVector[]): PackOutcome[] {
  const input = sent.map((one) => ({ ...one, body: one.body.toString("base64") }));
  const { stdout, stderr } = spawnSync(
    pythonInterpreter(),
    [join(import.meta.dirname, "run_packs.py")],
    {
      env: { PYTHONPATH: resolve("controlplane/python"), PYTHONDONTWRITEBYTECODE: "1" },
      input: JSON.stringify(input),
      maxBuffer: 256 * 1024 ** 2,
    },
  );
  if (stderr.length > 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString()) as PackOutcome[];
}

async function* inChunks(body: Buffer): AsyncGenerator<Buffer> {
  const size = body.length < 100_000 ? 700 : 70_000;
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

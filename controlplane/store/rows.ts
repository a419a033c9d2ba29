import { z } from "zod";
import { causeCodes, warningCodes } from "../../contract/codes.ts";
import { declaredOutput, limits } from "../../contract/wire.ts";
import type { RunRecord, StepRecord, ValueRecord } from "./store.ts";

/**
 * Rows as the database gives them, read through schemas: what a newer or a damaged database holds is an error
 * and not a surprise later.
 */

const json = z.string().transform((text): unknown => JSON.parse(text));

const receipt = json.pipe(
  z.object({
    accepted: z.int(),
    warnings: z.array(z.object({ code: z.enum(warningCodes), key: z.string() })),
    status: z.enum(["succeeded", "failed"]),
    cause: z.object({ code: z.enum(causeCodes), message: z.string() }).nullable(),
  }),
);

const runRow = z
  .object({
    run: z.string(),
    template: z.string(),
    request_sha256: z.string(),
    limits: json.pipe(limits),
    missing_output: z.enum(["warn", "fail"]),
    created_at: z.string(),
  })
  .transform((row): RunRecord => ({
    run: row.run,
    template: row.template,
    requestSha256: row.request_sha256,
    limits: row.limits,
    missingOutput: row.missing_output,
    createdAt: row.created_at,
  }));

const stepRow = z
  .object({
    run: z.string(),
    step: z.string(),
    attempt: z.int(),
    request_sha256: z.string(),
    depends_on: json.pipe(z.array(z.string())),
    outputs: json.pipe(z.array(declaredOutput)),
    deadline: z.string(),
    stamped_at: z.string(),
    instance: z.string().nullable(),
    accepted_at: z.string().nullable(),
    sha256: z.string().nullable(),
    receipt: receipt.nullable(),
  })
  .transform((row): StepRecord => {
    const { accepted_at: at, sha256, receipt: given } = row;
    return {
      run: row.run,
      step: row.step,
      attempt: row.attempt,
      requestSha256: row.request_sha256,
      dependsOn: row.depends_on,
      outputs: row.outputs,
      deadline: row.deadline,
      stampedAt: row.stamped_at,
      instance: row.instance,
      accepted:
        at === null || sha256 === null || given === null ? null : { at, sha256, receipt: given },
    };
  });

const valueRow = z
  .object({
    key: z.string(),
    size: z.int(),
    sha256: z.string(),
    step: z.string(),
    attempt: z.int(),
    set_at: z.string(),
  })
  .transform(({ set_at, ...row }): ValueRecord => ({ ...row, setAt: set_at }));

const bytesRow = z
  .object({ bytes: z.instanceof(Uint8Array) })
  .transform(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));

export function readRun(row: unknown): RunRecord {
  return runRow.parse(row);
}

export function readStep(row: unknown): StepRecord {
  return stepRow.parse(row);
}

export function readValue(row: unknown): ValueRecord {
  return valueRow.parse(row);
}

export function readBytes(row: unknown): Buffer {
  return bytesRow.parse(row);
}

import * as z from "zod";
import { causeCodes, warningCodes } from "../../contract/codes.ts";
import { outputKinds } from "../../contract/step-file.ts";
import { declaredOutput, limits } from "../../contract/wire.ts";
import {
  eventTypes,
  type EventRecord,
  type OverdueStep,
  type RunRecord,
  type StepRecord,
  type ValueRecord,
} from "./store.ts";

/**
 * Rows as the database gives them, read through schemas: what a newer or a damaged database holds is an error
 * and not a surprise later.
 */

const json = z.string().transform((text): unknown => JSON.parse(text));

const status = z.enum(["succeeded", "failed"]);
const cause = z.object({ code: z.enum(causeCodes), message: z.string() }).nullable();
const receipt = json.pipe(
  z.object({
    accepted: z.int(),
    warnings: z.array(z.object({ code: z.enum(warningCodes), key: z.string() })),
    status,
    cause,
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
    seq: z.int(),
    request_sha256: z.string(),
    depends_on: json.pipe(z.array(z.string())),
    outputs: json.pipe(z.array(declaredOutput)),
    deadline: z.string(),
    lease_ends_at: z.string(),
    stamped_at: z.string(),
    instance: z.string().nullable(),
    ended_at: z.string().nullable(),
    status: status.nullable(),
    cause: json.pipe(cause).nullable(),
    sha256: z.string().nullable(),
    receipt: receipt.nullable(),
  })
  .transform((row): StepRecord => {
    const { ended_at: at, status: became, sha256, receipt: given } = row;
    return {
      run: row.run,
      step: row.step,
      attempt: row.attempt,
      seq: row.seq,
      requestSha256: row.request_sha256,
      dependsOn: row.depends_on,
      outputs: row.outputs,
      deadline: row.deadline,
      leaseEndsAt: row.lease_ends_at,
      stampedAt: row.stamped_at,
      instance: row.instance,
      ended: at === null || became === null ? null : { at, status: became, cause: row.cause },
      accepted: sha256 === null || given === null ? null : { sha256, receipt: given },
    };
  });

const valueRow = z
  .object({
    key: z.string(),
    size: z.int(),
    sha256: z.string(),
    kind: z.enum(outputKinds),
    step: z.string(),
    attempt: z.int(),
    set_at: z.string(),
  })
  .transform(({ set_at, ...row }): ValueRecord => ({ ...row, setAt: set_at }));

const eventRow = z
  .object({
    seq: z.int(),
    at: z.string(),
    type: z.enum(eventTypes),
    data: json.pipe(z.record(z.string(), z.unknown())),
  })
  .transform(({ seq, at, type, data }): EventRecord => ({ seq, at, type, data }));

const overdueRow = z.object({ run: z.string(), step: z.string(), attempt: z.int() });

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

export function readEvent(row: unknown): EventRecord {
  return eventRow.parse(row);
}

export function readOverdueStep(row: unknown): OverdueStep {
  return overdueRow.parse(row);
}

export function readBytes(row: unknown): Buffer {
  return bytesRow.parse(row);
}

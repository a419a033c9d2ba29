import * as z from "zod";
import {
  apiCodes,
  causeCodes,
  completions,
  packCodes,
  rejectCodes,
  skipCodes,
  warningCodes,
} from "./codes.ts";
import { isRunId, parseStepPath } from "./ids.ts";
import { parseKey } from "./key.ts";
import { maxAttempt, maxStepFiles } from "./limits.ts";
import { maxListedIssues } from "./pack.ts";
import { finalizeStatuses, isInstant, maxKitLength, outcomes } from "./marker.ts";
import { outputKinds } from "./step-file.ts";

/** Schemas of everything that crosses the network: the one module here that needs zod. */

const digestPattern = /^[0-9a-f]{64}$/;
const printable = /^[\x20-\x7e]*$/;

export const runId = z.string().refine(isRunId, "letters, digits, `.`, `_`, `-`; at most 128");
export const stepPath = z
  .string()
  .refine(
    (text) => parseStepPath(text) !== undefined,
    "a step path such as `judge` or `review-loop_2.judge`",
  )
  .toLowerCase();
export const key = z
  .string()
  .refine((text) => !("problem" in parseKey(text)), "a key such as `verdict` or `findings.high`")
  .toLowerCase();
export const attempt = z.int().min(1).max(maxAttempt);
export const instant = z.string().refine(isInstant, "an RFC 3339 instant with a zone");
export const sha256 = z.string().regex(digestPattern, "64 lowercase hex digits");
/** The pod's uid, or whatever else tells two pods apart. */
export const instance = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[\x21-\x7e]+$/, "printable ASCII without blanks");

const bytes = z.int().min(0);
const limitBytes = z.int().min(1);

export const limits = z.strictObject({
  max_value_bytes: limitBytes,
  max_step_bytes: limitBytes,
  max_step_files: limitBytes.max(maxStepFiles),
  max_step_entries: limitBytes,
});

export const declaredOutput = z.strictObject({
  key,
  kind: z.enum(outputKinds).default("text"),
  options: z.array(z.string().min(1)).min(1).optional(),
  required: z.boolean().default(true),
});

export const marker = z.object({
  version: z.literal(1),
  outcome: z.enum(outcomes),
  exit_code: z.int().min(0).max(255),
  signal: z.string().max(16).nullable(),
  started_at: instant,
  finished_at: instant,
  finalize: z.object({
    status: z.enum(finalizeStatuses),
    failed: z.array(z.string().max(4096)).max(4096),
  }),
  kit: z.string().max(maxKitLength),
});

const issuePath = z.string().min(1).max(512).regex(printable);

/** Unknown fields are dropped: a newer sidecar may say more. */
export const packManifest = z.object({
  version: z.literal(1),
  run: runId,
  step: stepPath,
  attempt,
  instance,
  completion: z.object({ by: z.enum(completions), marker: marker.nullable() }),
  limits,
  variables: z.array(z.object({ key: z.string(), size: bytes })).max(maxStepFiles),
  rejected: z
    .array(
      z.object({
        code: z.enum([...rejectCodes, ...packCodes]),
        path: issuePath,
        key: z.string().max(1024).regex(printable).optional(),
        size: bytes.optional(),
        limit: bytes.optional(),
      }),
    )
    .max(maxListedIssues),
  skipped: z.array(z.object({ code: z.enum(skipCodes), path: issuePath })).max(maxListedIssues),
  more: z.partialRecord(z.enum([...rejectCodes, ...skipCodes]), z.int().min(1)),
  sidecar: z.string().max(64),
});

export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(apiCodes),
  detail: z.string(),
  /** With `already_packed`: the accepted body's digest. */
  accepted_sha256: sha256.optional(),
});
export type Problem = z.infer<typeof problem>;

export const stepStatuses = ["stamped", "running", "succeeded", "failed"] as const;

/** Answer of 200 and 201 to a pack. */
export const packReceipt = z.object({
  run: runId,
  step: stepPath,
  attempt,
  sha256,
  accepted: z.int().min(0),
  warnings: z.array(z.object({ code: z.enum(warningCodes), key: z.string() })),
  status: z.enum(["succeeded", "failed"]),
  cause: z.object({ code: z.enum(causeCodes), message: z.string() }).nullable(),
});
export type PackReceipt = z.infer<typeof packReceipt>;

export const createRun = z.strictObject({
  run: runId.optional(),
  template: z
    .string()
    .min(1)
    .max(256)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, "text without control characters"),
  item: z
    .strictObject({
      uuid: z.string().optional(),
      title: z.string().optional(),
      label: z.string().optional(),
      flow_state: z.string().optional(),
    })
    .default({}),
  /** Names in any case; two that fold to one are refused. */
  artifacts: z.record(z.string(), z.string()).default({}),
  inputs: z.record(z.string(), z.string()).default({}),
  limits: limits.partial().default({}),
  missing_output: z.enum(["warn", "fail"]).default("warn"),
});
export type CreateRun = z.infer<typeof createRun>;

export const runView = z.object({
  run: runId,
  template: z.string(),
  created_at: instant,
  limits,
  missing_output: z.enum(["warn", "fail"]),
});
export type RunView = z.infer<typeof runView>;

export const stampStep = z.strictObject({
  step: stepPath,
  depends_on: z.array(stepPath).max(1024).default([]),
  outputs: z
    .array(declaredOutput)
    .max(1024)
    .refine((outputs) => new Set(outputs.map(({ key: each }) => each)).size === outputs.length, {
      error: "a key is declared twice; case does not tell keys apart",
    })
    .default([]),
  deadline: instant.optional(),
  attempt: attempt.optional(),
});
export type StampStep = z.infer<typeof stampStep>;

export const stampedStep = z.object({
  run: runId,
  step: stepPath,
  attempt,
  deadline: instant,
  /** For the sidecar alone, through a file. */
  token: z.string(),
  /** What the pod's containers need; holds no secret. */
  env: z.record(z.string(), z.string()),
});
export type StampedStep = z.infer<typeof stampedStep>;

export const stepView = z.object({
  step: stepPath,
  attempt,
  status: z.enum(stepStatuses),
  depends_on: z.array(stepPath),
  deadline: instant,
  stamped_at: instant,
  ended_at: instant.nullable(),
  /** Of the accepted pack. */
  sha256: sha256.nullable(),
  cause: packReceipt.shape.cause,
});
export type StepView = z.infer<typeof stepView>;

export const variableView = z.object({
  key: z.string(),
  size: bytes,
  sha256,
  kind: z.enum(outputKinds),
  /** `input` for the run's frozen inputs, else the step path. */
  set_by: z.string(),
  attempt: z.int().min(0),
  set_at: instant,
});
export type VariableView = z.infer<typeof variableView>;

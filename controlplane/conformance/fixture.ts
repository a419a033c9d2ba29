import * as z from "zod";
import { isAllowedUrl, parseBaseUrl } from "../../contract/base-url.ts";
import { parseStepPath } from "../../contract/ids.ts";
import { defaultLimits, type Limits } from "../../contract/limits.ts";
import {
  attempt,
  declaredOutput,
  key,
  limits,
  runId,
  sha256,
  stepPath,
} from "../../contract/wire.ts";

/**
 * Where the suite gets its steps from (API page, Conformance): how an implementation makes runs and stamps
 * steps is its own affair, so a fixture does it.
 */

export const stepKinds = ["step", "next", "retry", "loop", "iterate"] as const;

/**
 * `step`: any step. `next`: another step of the same run whose only dependency is the given one. `retry`: a
 * newer attempt of it. `loop`: a step in a loop's body, iteration 1. `iterate`: the given step in the next
 * iteration.
 */
export type StepKind = (typeof stepKinds)[number];

/** The step that `next`, `retry` and `iterate` start from. */
export type Origin = Pick<FreshStep, "run" | "step" | "attempt">;

export interface Fixture {
  /** Stamps one step attempt that nobody has called yet. Throws FixtureError where it breaks its contract. */
  readonly stamp: (kind: StepKind, origin?: Origin) => Promise<FreshStep | CannotStamp>;
}

export interface CannotStamp {
  /** Why the fixture has no step of this kind. */
  readonly skip: string;
}

const token = z.string().regex(/^[\x21-\x7e]+$/, "printable ASCII without blanks");

const freshStep = z.object({
  url: z.string(),
  run: runId,
  step: stepPath,
  attempt,
  token,
  limits: limits.partial().default({}),
  outputs: z.array(declaredOutput).optional(),
  visible: z.record(key, sha256).optional(),
});

/** A stamped step attempt, as the fixture describes it. */
export interface FreshStep extends Omit<z.infer<typeof freshStep>, "url" | "limits"> {
  /** Base of the step calls. */
  readonly url: URL;
  /** Of the run. */
  readonly limits: Limits;
}

/** The fixture, not the implementation, is at fault: one line for a person. */
export class FixtureError extends Error {
  override readonly name = "FixtureError";
}

/** Reads what a fixture says. Throws FixtureError, never quoting a value: one of them is a token. */
export function parseFreshStep(
  untrusted: unknown,
  options: { readonly allowHttp: boolean },
): FreshStep | CannotStamp {
  const cannot = z.object({ skip: z.string().min(1).max(200) }).safeParse(untrusted);
  if (cannot.success) return cannot.data;
  const parsed = freshStep.safeParse(untrusted);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.join(".") || "the answer";
    throw new FixtureError(`the fixture's answer is not valid: ${where}: ${issue?.message ?? ""}`);
  }
  const url = parseBaseUrl(parsed.data.url);
  if (url === undefined) throw new FixtureError("the fixture's url is no http:// or https:// URL");
  if (!isAllowedUrl(url, options)) {
    throw new FixtureError("the fixture's url must be https:// beyond loopback; see --allow-http");
  }
  const given = Object.entries(parsed.data.limits).filter(([, limit]) => limit !== undefined);
  return { ...parsed.data, url, limits: { ...defaultLimits, ...Object.fromEntries(given) } };
}

/** Whether a step is what the kind asks for; a fixture that knows one kind alone may answer with any step. */
export function isOfKind(step: FreshStep, kind: StepKind, origin: Origin = step): boolean {
  return step.run === origin.run && kindTests[kind](step, origin);
}

const kindTests: Record<StepKind, (step: Origin, origin: Origin) => boolean> = {
  step: ({ step }) => parseStepPath(step)?.loop === undefined,
  next: ({ step }, origin) => step !== origin.step,
  retry: ({ step, attempt: number }, origin) => step === origin.step && number > origin.attempt,
  loop: ({ step }) => parseStepPath(step)?.loop?.iteration === 1,
  iterate: ({ step }, origin) => step === nextIteration(origin.step),
};

/** The same step's path in the next iteration of its loop; itself where it is in none. */
export function nextIteration(path: string): string {
  const { loop, step } = parseStepPath(path) ?? {};
  if (loop === undefined || step === undefined) return path;
  return `${loop.id}_${String(loop.iteration + 1)}.${step}`;
}

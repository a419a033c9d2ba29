import { Mismatch, Skipped, type Check, type Clause } from "./check.ts";
import type { Subject } from "./subject.ts";

const maxDetailLength = 300;

export interface CheckResult {
  readonly clause: Clause;
  readonly title: string;
  readonly result: "ok" | "fail" | "skip";
  /** What was expected and seen, or why it was skipped; empty where it is ok. Holds no token. */
  readonly detail: string;
}

/**
 * Runs one check after the other, each over steps of its own, so that one fault shows where it is and nowhere
 * else. Throws FixtureError, and the reason of `signal`.
 */
export async function* runChecks(
  checks: readonly Check[],
  subject: Subject,
  signal: AbortSignal,
): AsyncGenerator<CheckResult> {
  for (const check of checks) {
    signal.throwIfAborted();
    const { clause, title } = check;
    const { result, detail } = await runCheck(check, subject);
    yield { clause, title, result, detail: subject.redact(detail).slice(0, maxDetailLength) };
  }
}

async function runCheck(
  check: Check,
  subject: Subject,
): Promise<Pick<CheckResult, "result" | "detail">> {
  try {
    await check.run(subject);
    return { result: "ok", detail: "" };
  } catch (error) {
    if (error instanceof Skipped) return { result: "skip", detail: error.message };
    if (error instanceof Mismatch) return { result: "fail", detail: error.message };
    throw error;
  }
}

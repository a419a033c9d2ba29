import { maxAttempt } from "../../contract/limits.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { SqlRun } from "./sql-run.ts";
import { findStep, newestAttempt } from "./sql-step.ts";
import type { NewStep, Stamping } from "./store.ts";

/** As `Store.stampStep`. */
export async function stampStep(db: SqlDatabase, step: NewStep): Promise<Stamping> {
  const { run, step: path, stampedAt } = step;
  return db.transaction(async (session): Promise<Stamping> => {
    // Two that stamp one step at once must not both make its next attempt.
    const held = await session.all(`SELECT run FROM runs WHERE run = $1${db.forUpdate}`, [run]);
    if (held.length === 0) return { result: "no_run" };
    const last = await newestAttempt(session, run, path);
    const attempt = step.attempt ?? last + 1;
    if (attempt > maxAttempt) return { result: "exhausted" };
    const existing = await findStep(session, run, path, attempt);
    if (existing !== undefined) {
      const same = existing.requestSha256 === step.requestSha256;
      return { result: same ? "same" : "different", step: existing };
    }
    if (attempt < last) return { result: "superseded", newest: last };
    const seq = await new SqlRun(session, run).addEvent(stampedAt, "step_stamped", {
      step: path,
      attempt,
    });
    await session.insertNew(
      "steps (run, step, attempt, seq, request_sha256, depends_on, outputs, deadline, lease_ends_at, stamped_at)",
      [
        [
          run,
          path,
          attempt,
          seq,
          step.requestSha256,
          JSON.stringify(step.dependsOn),
          JSON.stringify(step.outputs),
          step.deadline,
          step.leaseEndsAt,
          stampedAt,
        ],
      ],
    );
    const made = { ...step, attempt, seq, instance: null, ended: null, accepted: null };
    return { result: "created", step: made };
  });
}

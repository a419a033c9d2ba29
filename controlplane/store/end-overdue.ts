import { readOverdueStep } from "./rows.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { SqlRun } from "./sql-run.ts";
import { findStep } from "./sql-step.ts";
import type { Cause, OverdueStep } from "./store.ts";

/** As `Store.endOverdue`. */
export async function endOverdue(
  db: SqlDatabase,
  now: string,
  cause: Cause,
  limit: number,
): Promise<OverdueStep[]> {
  const rows = await db.all(
    `SELECT run, step, attempt FROM steps WHERE ended_at IS NULL AND lease_ends_at <= $1
     ORDER BY lease_ends_at LIMIT $2`,
    [now, limit],
  );
  const ended: OverdueStep[] = [];
  for (const overdue of rows.map(readOverdueStep)) {
    if (await endStep(db, overdue, now, cause)) ended.push(overdue);
  }
  return ended;
}

async function endStep(
  db: SqlDatabase,
  overdue: OverdueStep,
  at: string,
  cause: Cause,
): Promise<boolean> {
  const { run, step, attempt } = overdue;
  return db.transaction(async (session) => {
    const held = await findStep(session, run, step, attempt, db.forUpdate);
    if (held === undefined || held.ended !== null) return false;
    await session.all(
      `UPDATE steps SET ended_at = $4, status = 'failed', cause = $5
       WHERE run = $1 AND step = $2 AND attempt = $3`,
      [run, step, attempt, at, JSON.stringify(cause)],
    );
    const data = { step, attempt, status: "failed", cause, accepted: 0 };
    await new SqlRun(session, run).addEvent(at, "step_ended", data);
    return true;
  });
}

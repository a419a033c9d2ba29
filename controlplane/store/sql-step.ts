import { readStep } from "./rows.ts";
import type { SqlSession } from "./sql-database.ts";
import { SqlRun } from "./sql-run.ts";
import type { Claim, StepRecord } from "./store.ts";

/** `suffix` ends the SELECT: it may hold the row. */
export async function findStep(
  session: SqlSession,
  run: string,
  step: string,
  attempt: number,
  suffix = "",
): Promise<StepRecord | undefined> {
  const [row] = await session.all(
    `SELECT * FROM steps WHERE run = $1 AND step = $2 AND attempt = $3${suffix}`,
    [run, step, attempt],
  );
  return row === undefined ? undefined : readStep(row);
}

/** 0 where the step was never stamped. */
export async function newestAttempt(
  session: SqlSession,
  run: string,
  step: string,
): Promise<number> {
  const [row] = await session.all(
    "SELECT COALESCE(MAX(attempt), 0) AS attempt FROM steps WHERE run = $1 AND step = $2",
    [run, step],
  );
  return Number(row?.["attempt"]);
}

/** Gives a step whose row is held to the instance, if nobody else has it (WV-12). */
export async function claimHeldStep(
  session: SqlSession,
  held: StepRecord | undefined,
  instance: string,
  at: string,
): Promise<Claim> {
  if (held === undefined) return "stale_attempt";
  const { run, step, attempt } = held;
  if (attempt !== (await newestAttempt(session, run, step))) return "stale_attempt";
  if (held.instance !== null && held.instance !== instance) return "stale_instance";
  if (held.ended !== null && held.accepted === null) return "ended";
  if (held.instance === null) {
    await session.all(
      "UPDATE steps SET instance = $4 WHERE run = $1 AND step = $2 AND attempt = $3",
      [run, step, attempt, instance],
    );
    await new SqlRun(session, run).addEvent(at, "step_claimed", { step, attempt });
  }
  return "claimed";
}

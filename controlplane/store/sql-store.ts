import { acceptPack } from "./accept-pack.ts";
import { createRun } from "./create-run.ts";
import { endOverdue } from "./end-overdue.ts";
import { removeRuns } from "./remove-runs.ts";
import { readBytes, readEvent, readRun, readStep, readValue } from "./rows.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { claimHeldStep, findStep } from "./sql-step.ts";
import { stampStep } from "./stamp-step.ts";
import {
  inputsStep,
  type Acceptance,
  type AcceptedPack,
  type Cause,
  type Claim,
  type EventRecord,
  type NewRun,
  type NewStep,
  type OverdueStep,
  type Page,
  type RunRecord,
  type Stamping,
  type StepRecord,
  type Store,
  type ValueRecord,
} from "./store.ts";

/** Larger than any `seq`. */
const newest = Number.MAX_SAFE_INTEGER;

/**
 * The store over a database that speaks SQL. Whoever changes a step holds its row, and takes the run's row last, for
 * the event: two processes that change one run wait for one another, and never each for the other.
 */
export class SqlStore implements Store {
  readonly #db: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#db = database;
  }

  async createRun(run: NewRun): Promise<"created" | "same" | "different"> {
    return createRun(this.#db, run);
  }

  async getRun(run: string): Promise<RunRecord | undefined> {
    const [row] = await this.#db.all("SELECT * FROM runs WHERE run = $1", [run]);
    return row === undefined ? undefined : readRun(row);
  }

  async listRuns({ limit, after }: Page<string>): Promise<RunRecord[] | undefined> {
    let before = newest;
    if (after !== undefined) {
      const [row] = await this.#db.all("SELECT seq FROM runs WHERE run = $1", [after]);
      if (row === undefined) return undefined;
      before = Number(row["seq"]);
    }
    const sql = "SELECT * FROM runs WHERE seq < $1 ORDER BY seq DESC LIMIT $2";
    return (await this.#db.all(sql, [before, limit])).map(readRun);
  }

  async stampStep(step: NewStep): Promise<Stamping> {
    return stampStep(this.#db, step);
  }

  async getStep(run: string, step: string, attempt: number): Promise<StepRecord | undefined> {
    return findStep(this.#db, run, step, attempt);
  }

  async listSteps(run: string, { limit, after = 0 }: Page<number>): Promise<StepRecord[]> {
    const sql = "SELECT * FROM steps WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    return (await this.#db.all(sql, [run, after, limit])).map(readStep);
  }

  async claimStep(
    run: string,
    step: string,
    attempt: number,
    instance: string,
    at: string,
  ): Promise<Claim> {
    return this.#db.transaction(async (session) => {
      const held = await findStep(session, run, step, attempt, this.#db.forUpdate);
      return claimHeldStep(session, held, instance, at);
    });
  }

  async acceptPack(pack: AcceptedPack): Promise<Acceptance> {
    return acceptPack(this.#db, pack);
  }

  async endOverdue(now: string, cause: Cause, limit: number): Promise<OverdueStep[]> {
    return endOverdue(this.#db, now, cause, limit);
  }

  async countOpenSteps(): Promise<number> {
    const sql = "SELECT COUNT(*) AS count FROM steps WHERE ended_at IS NULL";
    const [row] = await this.#db.all(sql);
    return Number(row?.["count"]);
  }

  async listStepPaths(run: string, loop: string): Promise<string[]> {
    // Every path of the loop lies between `<loop>_` and the character after `_`.
    const rows = await this.#db.all(
      "SELECT DISTINCT step FROM steps WHERE run = $1 AND step >= $2 AND step < $3",
      [run, `${loop}_`, `${loop}\``],
    );
    return rows.map((row) => String(row["step"]));
  }

  async listValues(run: string, steps: readonly string[]): Promise<ValueRecord[]> {
    const rows = await this.#db.all(
      `${visibleValues} AND v.step IN ${this.#db.membersOf("$2", "TEXT")} ORDER BY v.key`,
      [run, JSON.stringify(steps)],
    );
    return rows.map(readValue);
  }

  async listKeys(
    run: string,
    { prefix, limit, after }: Page<string> & { readonly prefix: string },
  ): Promise<ValueRecord[]> {
    // No key has a character past `z`.
    const rows = await this.#db.all(
      `${visibleValues} AND v.key >= $2 AND v.key < $3 AND v.key > $4 ORDER BY v.key LIMIT $5`,
      [run, prefix, `${prefix}~`, after ?? "", limit],
    );
    return rows.map(readValue);
  }

  async getContent(sha256: string): Promise<Buffer | undefined> {
    const [row] = await this.#db.all("SELECT bytes FROM contents WHERE sha256 = $1", [sha256]);
    return row === undefined ? undefined : readBytes(row);
  }

  async listEvents(
    run: string,
    { limit, after }: { readonly limit: number; readonly after: number },
  ): Promise<EventRecord[]> {
    const sql = "SELECT * FROM events WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    return (await this.#db.all(sql, [run, after, limit])).map(readEvent);
  }

  async removeRuns(idleSince: string, limit: number): Promise<number> {
    return removeRuns(this.#db, idleSince, limit);
  }

  async ping(): Promise<void> {
    await this.#db.all("SELECT 1");
  }

  async close(): Promise<void> {
    await this.#db.close();
  }
}

/** The values of each step's newest accepted attempt, and the run's inputs (WV-9). */
const visibleValues = `
  SELECT v.* FROM variables v
  WHERE v.run = $1
    AND (v.step = '${inputsStep}' OR v.attempt = (
      SELECT MAX(s.attempt) FROM steps s
      WHERE s.run = $1 AND s.step = v.step AND s.sha256 IS NOT NULL))`;

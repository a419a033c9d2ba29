import { maxAttempt } from "../../contract/limits.ts";
import { readBytes, readEvent, readOverdueStep, readRun, readStep, readValue } from "./rows.ts";
import { claimHeldStep, findStep, newestAttempt } from "./sql-step.ts";
import { SqlRun } from "./sql-run.ts";
import type { SqlDatabase } from "./sql-database.ts";
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
    return this.#db.transaction(async (session) => {
      await session.insertNew(
        "runs (run, template, request_sha256, limits, missing_output, created_at, active_at)",
        [
          [
            run.run,
            run.template,
            run.requestSha256,
            JSON.stringify(run.limits),
            run.missingOutput,
            run.createdAt,
            run.createdAt,
          ],
        ],
      );
      const [row] = await session.all(`SELECT * FROM runs WHERE run = $1${this.#db.forUpdate}`, [
        run.run,
      ]);
      const { events } = row ?? {};
      if (events !== 0) {
        return readRun(row).requestSha256 === run.requestSha256 ? "same" : "different";
      }
      const made = new SqlRun(session, run.run);
      await made.insertValues(inputsStep, 0, run.createdAt, run.inputs);
      await made.addEvent(run.createdAt, "run_created", { template: run.template });
      return "created";
    });
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
    const { run, step: path, stampedAt } = step;
    return this.#db.transaction(async (session): Promise<Stamping> => {
      // Two that stamp one step at once must not both make its next attempt.
      const held = await session.all(`SELECT run FROM runs WHERE run = $1${this.#db.forUpdate}`, [
        run,
      ]);
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
    const { run, step, attempt, instance, acceptedAt, receipt } = pack;
    return this.#db.transaction(async (session): Promise<Acceptance> => {
      const held = await findStep(session, run, step, attempt, this.#db.forUpdate);
      if (held?.accepted && held.instance === instance) {
        const { sha256, receipt: earlier } = held.accepted;
        const same = sha256 === pack.sha256;
        return { result: same ? "same" : "already_packed", sha256, receipt: earlier };
      }
      const claim = await claimHeldStep(session, held, instance, acceptedAt);
      if (claim !== "claimed") return { result: claim };
      const written = new SqlRun(session, run);
      await written.insertValues(step, attempt, acceptedAt, pack.values);
      await session.all(
        `UPDATE steps SET ended_at = $4, status = $5, cause = $6, sha256 = $7, receipt = $8, manifest = $9
         WHERE run = $1 AND step = $2 AND attempt = $3`,
        [
          run,
          step,
          attempt,
          acceptedAt,
          receipt.status,
          JSON.stringify(receipt.cause),
          pack.sha256,
          JSON.stringify(receipt),
          pack.manifest,
        ],
      );
      const { status, cause, accepted } = receipt;
      await written.addEvent(acceptedAt, "step_ended", { step, attempt, status, cause, accepted });
      return { result: "accepted" };
    });
  }

  async endOverdue(now: string, cause: Cause, limit: number): Promise<OverdueStep[]> {
    const rows = await this.#db.all(
      `SELECT run, step, attempt FROM steps WHERE ended_at IS NULL AND lease_ends_at <= $1
       ORDER BY lease_ends_at LIMIT $2`,
      [now, limit],
    );
    const ended: OverdueStep[] = [];
    for (const overdue of rows.map(readOverdueStep)) {
      if (await this.#endStep(overdue, now, cause)) ended.push(overdue);
    }
    return ended;
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
    const idle = await this.#db.all(
      `SELECT run FROM runs WHERE active_at < $1
         AND NOT EXISTS (SELECT 1 FROM steps WHERE steps.run = runs.run AND ended_at IS NULL)
       ORDER BY active_at LIMIT $2`,
      [idleSince, limit],
    );
    let removed = 0;
    for (const { run } of idle) {
      if (await this.#removeRun(String(run), idleSince)) removed += 1;
    }
    return removed;
  }

  async ping(): Promise<void> {
    await this.#db.all("SELECT 1");
  }

  async close(): Promise<void> {
    await this.#db.close();
  }

  async #endStep(overdue: OverdueStep, at: string, cause: Cause): Promise<boolean> {
    const { run, step, attempt } = overdue;
    return this.#db.transaction(async (session) => {
      const held = await findStep(session, run, step, attempt, this.#db.forUpdate);
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

  async #removeRun(run: string, idleSince: string): Promise<boolean> {
    return this.#db.transaction(async (session) => {
      const contents = await session.all("SELECT DISTINCT content FROM variables WHERE run = $1", [
        run,
      ]);
      const gone = await session.all(
        "DELETE FROM runs WHERE run = $1 AND active_at < $2 RETURNING run",
        [run, idleSince],
      );
      if (gone.length === 0) return false;
      await session.all(
        `DELETE FROM contents WHERE id IN ${session.membersOf("$1", "BIGINT")}
         AND NOT EXISTS (SELECT 1 FROM variables WHERE variables.content = contents.id)`,
        [JSON.stringify(contents.map(({ content }) => content))],
      );
      return true;
    });
  }
}

/** The values of each step's newest accepted attempt, and the run's inputs (WV-9). */
const visibleValues = `
  SELECT v.* FROM variables v
  WHERE v.run = $1
    AND (v.step = '${inputsStep}' OR v.attempt = (
      SELECT MAX(s.attempt) FROM steps s
      WHERE s.run = $1 AND s.step = v.step AND s.sha256 IS NOT NULL))`;

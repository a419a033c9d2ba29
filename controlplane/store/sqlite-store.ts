import { maxAttempt } from "../../contract/limits.ts";
import { sqliteMigrations } from "./migrations.ts";
import { SqliteDatabase } from "./sqlite-database.ts";
import { readBytes, readRun, readStep, readValue } from "./rows.ts";
import {
  inputsStep,
  type Acceptance,
  type AcceptedPack,
  type Claim,
  type NewRun,
  type NewStep,
  type NewValue,
  type RunRecord,
  type Stamping,
  type StepRecord,
  type Store,
  type ValueRecord,
} from "./store.ts";

/** The embedded store: one SQLite file, write-ahead log, full sync: what a call resolved is on disk. */
export class SqliteStore implements Store {
  readonly #db: SqliteDatabase;

  /**
   * Opens or makes the file and migrates it. Throws where it cannot be had, or was made by a newer version.
   */
  constructor(file: string) {
    this.#db = new SqliteDatabase(file, sqliteMigrations);
  }

  async createRun(run: NewRun): Promise<"created" | "same" | "different"> {
    return this.#db.transaction(() => {
      const existing = this.#findRun(run.run);
      if (existing !== undefined) {
        return existing.requestSha256 === run.requestSha256 ? "same" : "different";
      }
      this.#db.run(
        `INSERT INTO runs (run, template, request_sha256, limits, missing_output, created_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
        run.run,
        run.template,
        run.requestSha256,
        JSON.stringify(run.limits),
        run.missingOutput,
        run.createdAt,
      );
      this.#insertValues(run.run, inputsStep, 0, run.createdAt, run.inputs);
      this.#addEvent(run.run, run.createdAt, "run_created", { template: run.template });
      return "created";
    });
  }

  async getRun(run: string): Promise<RunRecord | undefined> {
    return this.#findRun(run);
  }

  async listRuns({
    limit,
    before,
  }: {
    limit: number;
    before: string | undefined;
  }): Promise<RunRecord[]> {
    const rows = this.#db.all(
      `SELECT * FROM runs
       WHERE seq < COALESCE((SELECT seq FROM runs WHERE run = ?), 9223372036854775807)
       ORDER BY seq DESC LIMIT ?`,
      before ?? null,
      limit,
    );
    return rows.map(readRun);
  }

  async stampStep(step: NewStep): Promise<Stamping> {
    return this.#db.transaction((): Stamping => {
      const newest = this.#newestAttempt(step.run, step.step);
      const attempt = step.attempt ?? newest + 1;
      if (attempt > maxAttempt) return { result: "exhausted" };
      const existing = this.#findStep(step.run, step.step, attempt);
      if (existing !== undefined) {
        const same = existing.requestSha256 === step.requestSha256;
        return { result: same ? "same" : "different", step: existing };
      }
      this.#db.run(
        `INSERT INTO steps (run, step, attempt, request_sha256, depends_on, outputs, deadline, stamped_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        step.run,
        step.step,
        attempt,
        step.requestSha256,
        JSON.stringify(step.dependsOn),
        JSON.stringify(step.outputs),
        step.deadline,
        step.stampedAt,
      );
      this.#addEvent(step.run, step.stampedAt, "step_stamped", { step: step.step, attempt });
      return { result: "created", step: { ...step, attempt, instance: null, accepted: null } };
    });
  }

  async getStep(run: string, step: string, attempt: number): Promise<StepRecord | undefined> {
    return this.#findStep(run, step, attempt);
  }

  async listSteps(run: string): Promise<StepRecord[]> {
    return this.#db.all("SELECT * FROM steps WHERE run = ? ORDER BY rowid", run).map(readStep);
  }

  async claimStep(run: string, step: string, attempt: number, instance: string): Promise<Claim> {
    return this.#db.transaction(() => this.#claim(run, step, attempt, instance));
  }

  async acceptPack(pack: AcceptedPack): Promise<Acceptance> {
    const { run, step, attempt, instance } = pack;
    return this.#db.transaction((): Acceptance => {
      const earlier = this.#findStep(run, step, attempt);
      if (earlier?.accepted && earlier.instance === instance) {
        const { sha256, receipt } = earlier.accepted;
        return { result: sha256 === pack.sha256 ? "same" : "already_packed", sha256, receipt };
      }
      const claim = this.#claim(run, step, attempt, instance);
      if (claim !== "claimed") return { result: claim };
      this.#insertValues(run, step, attempt, pack.acceptedAt, pack.values);
      this.#db.run(
        `UPDATE steps SET accepted_at = ?, sha256 = ?, receipt = ?, manifest = ?
         WHERE run = ? AND step = ? AND attempt = ?`,
        pack.acceptedAt,
        pack.sha256,
        JSON.stringify(pack.receipt),
        pack.manifest,
        run,
        step,
        attempt,
      );
      const { status, accepted } = pack.receipt;
      this.#addEvent(run, pack.acceptedAt, "pack_accepted", { step, attempt, status, accepted });
      return { result: "accepted" };
    });
  }

  async listStepPaths(run: string, loop: string): Promise<string[]> {
    // Every path of the loop lies between `<loop>_` and the character after `_`.
    const rows = this.#db.all(
      "SELECT DISTINCT step FROM steps WHERE run = ? AND step >= ? AND step < ?",
      run,
      `${loop}_`,
      `${loop}\``,
    );
    return rows.map((row) => String(row["step"]));
  }

  async listValues(run: string, steps?: readonly string[]): Promise<ValueRecord[]> {
    const rows = this.#db.all(
      `SELECT v.* FROM variables v
       WHERE v.run = ?1
         AND (?2 IS NULL OR v.step IN (SELECT value FROM json_each(?2)))
         AND (v.step = '${inputsStep}' OR v.attempt = (
           SELECT MAX(s.attempt) FROM steps s
           WHERE s.run = ?1 AND s.step = v.step AND s.accepted_at IS NOT NULL))
       ORDER BY v.key`,
      run,
      steps === undefined ? null : JSON.stringify(steps),
    );
    return rows.map(readValue);
  }

  async getContent(sha256: string): Promise<Buffer | undefined> {
    const [row] = this.#db.all("SELECT bytes FROM contents WHERE sha256 = ?", sha256);
    return row === undefined ? undefined : readBytes(row);
  }

  async ping(): Promise<void> {
    this.#db.all("SELECT 1");
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #claim(run: string, step: string, attempt: number, instance: string): Claim {
    if (attempt !== this.#newestAttempt(run, step)) return "stale_attempt";
    this.#db.run(
      "UPDATE steps SET instance = ? WHERE run = ? AND step = ? AND attempt = ? AND instance IS NULL",
      instance,
      run,
      step,
      attempt,
    );
    return this.#findStep(run, step, attempt)?.instance === instance ? "claimed" : "stale_instance";
  }

  #findRun(run: string): RunRecord | undefined {
    const [row] = this.#db.all("SELECT * FROM runs WHERE run = ?", run);
    return row === undefined ? undefined : readRun(row);
  }

  #findStep(run: string, step: string, attempt: number): StepRecord | undefined {
    const [row] = this.#db.all(
      "SELECT * FROM steps WHERE run = ? AND step = ? AND attempt = ?",
      run,
      step,
      attempt,
    );
    return row === undefined ? undefined : readStep(row);
  }

  /** 0 where the step was never stamped. */
  #newestAttempt(run: string, step: string): number {
    const [row] = this.#db.all(
      "SELECT COALESCE(MAX(attempt), 0) AS attempt FROM steps WHERE run = ? AND step = ?",
      run,
      step,
    );
    return Number(row?.["attempt"]);
  }

  #insertValues(
    run: string,
    step: string,
    attempt: number,
    at: string,
    values: readonly NewValue[],
  ): void {
    for (const { key, bytes, sha256 } of values) {
      this.#db.run("INSERT OR IGNORE INTO contents (sha256, bytes) VALUES (?, ?)", sha256, bytes);
      this.#db.run(
        `INSERT INTO variables (run, step, attempt, key, size, sha256, set_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        run,
        step,
        attempt,
        key,
        bytes.length,
        sha256,
        at,
      );
    }
  }

  #addEvent(run: string, at: string, type: string, data: object): void {
    this.#db.run(
      `INSERT INTO events (run, seq, at, type, data)
       VALUES (?1, (SELECT COALESCE(MAX(seq), 0) + 1 FROM events WHERE run = ?1), ?2, ?3, ?4)`,
      run,
      at,
      type,
      JSON.stringify(data),
    );
  }
}

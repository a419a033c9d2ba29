import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { sqliteMigrations } from "./migrations.ts";
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
  type StepRecord,
  type Store,
  type ValueRecord,
} from "./store.ts";

/** The embedded store: one SQLite file, write-ahead log, full sync: what a call resolved is on disk. */
export class SqliteStore implements Store {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** Opens or makes the file and migrates it. Throws where it cannot be had, or was made by a newer version. */
  constructor(file: string) {
    this.#db = new DatabaseSync(file, { timeout: 5_000, enableForeignKeyConstraints: true });
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    this.#migrate();
  }

  async createRun(run: NewRun): Promise<"created" | "same" | "different"> {
    return this.#transaction(() => {
      const existing = this.#findRun(run.run);
      if (existing !== undefined) {
        return existing.requestSha256 === run.requestSha256 ? "same" : "different";
      }
      this.#run(
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
    const rows = this.#all(
      `SELECT * FROM runs
       WHERE seq < COALESCE((SELECT seq FROM runs WHERE run = ?), 9223372036854775807)
       ORDER BY seq DESC LIMIT ?`,
      before ?? null,
      limit,
    );
    return rows.map(readRun);
  }

  async stampStep(
    step: NewStep,
  ): Promise<{ result: "created" | "same" | "different"; step: StepRecord }> {
    return this.#transaction(() => {
      const newest = this.#newestAttempt(step.run, step.step);
      const attempt = step.attempt ?? newest + 1;
      const existing = this.#findStep(step.run, step.step, attempt);
      if (existing !== undefined) {
        const same = existing.requestSha256 === step.requestSha256;
        return { result: same ? "same" : "different", step: existing };
      }
      this.#run(
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
    return this.#all("SELECT * FROM steps WHERE run = ? ORDER BY rowid", run).map(readStep);
  }

  async claimStep(run: string, step: string, attempt: number, instance: string): Promise<Claim> {
    return this.#transaction(() => this.#claim(run, step, attempt, instance));
  }

  async acceptPack(pack: AcceptedPack): Promise<Acceptance> {
    const { run, step, attempt, instance } = pack;
    return this.#transaction((): Acceptance => {
      const earlier = this.#findStep(run, step, attempt);
      if (earlier?.accepted && earlier.instance === instance) {
        const { sha256, receipt } = earlier.accepted;
        return { result: sha256 === pack.sha256 ? "same" : "already_packed", sha256, receipt };
      }
      const claim = this.#claim(run, step, attempt, instance);
      if (claim !== "claimed") return { result: claim };
      this.#insertValues(run, step, attempt, pack.acceptedAt, pack.values);
      this.#run(
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
    const rows = this.#all(
      "SELECT DISTINCT step FROM steps WHERE run = ? AND step >= ? AND step < ?",
      run,
      `${loop}_`,
      `${loop}\``,
    );
    return rows.map((row) => String(row["step"]));
  }

  async listValues(run: string, steps?: readonly string[]): Promise<ValueRecord[]> {
    const rows = this.#all(
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
    const [row] = this.#all("SELECT bytes FROM contents WHERE sha256 = ?", sha256);
    return row === undefined ? undefined : readBytes(row);
  }

  async ping(): Promise<void> {
    this.#all("SELECT 1");
  }

  async close(): Promise<void> {
    this.#statements.clear();
    this.#db.close();
  }

  #claim(run: string, step: string, attempt: number, instance: string): Claim {
    if (attempt !== this.#newestAttempt(run, step)) return "stale_attempt";
    this.#run(
      "UPDATE steps SET instance = ? WHERE run = ? AND step = ? AND attempt = ? AND instance IS NULL",
      instance,
      run,
      step,
      attempt,
    );
    return this.#findStep(run, step, attempt)?.instance === instance ? "claimed" : "stale_instance";
  }

  #findRun(run: string): RunRecord | undefined {
    const [row] = this.#all("SELECT * FROM runs WHERE run = ?", run);
    return row === undefined ? undefined : readRun(row);
  }

  #findStep(run: string, step: string, attempt: number): StepRecord | undefined {
    const [row] = this.#all(
      "SELECT * FROM steps WHERE run = ? AND step = ? AND attempt = ?",
      run,
      step,
      attempt,
    );
    return row === undefined ? undefined : readStep(row);
  }

  /** 0 where the step was never stamped. */
  #newestAttempt(run: string, step: string): number {
    const [row] = this.#all(
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
      this.#run("INSERT OR IGNORE INTO contents (sha256, bytes) VALUES (?, ?)", sha256, bytes);
      this.#run(
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
    this.#run(
      `INSERT INTO events (run, seq, at, type, data)
       VALUES (?1, (SELECT COALESCE(MAX(seq), 0) + 1 FROM events WHERE run = ?1), ?2, ?3, ?4)`,
      run,
      at,
      type,
      JSON.stringify(data),
    );
  }

  #migrate(): void {
    this.#transaction(() => {
      const [row] = this.#db.prepare("PRAGMA user_version").all();
      const done = Number(row?.["user_version"]);
      if (done > sqliteMigrations.length) {
        throw new Error("the database was made by a newer version of wfvar");
      }
      for (const migration of sqliteMigrations.slice(done)) this.#db.exec(migration);
      this.#db.exec(`PRAGMA user_version = ${String(sqliteMigrations.length)}`);
    });
  }

  /** Takes the write lock at once, so that what is read inside is what is written upon. */
  #transaction<T>(use: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = use();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  #all(sql: string, ...parameters: SQLInputValue[]): Record<string, unknown>[] {
    return this.#prepare(sql).all(...parameters);
  }

  #run(sql: string, ...parameters: SQLInputValue[]): void {
    this.#prepare(sql).run(...parameters);
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

import { DatabaseSync, type StatementSync } from "node:sqlite";
import { migrations } from "./migrations.ts";
import type { Row, SqlDatabase, SqlSession, SqlValue } from "./sql-database.ts";

/** Transactions that share one commit. */
const maxBatch = 64;
/** Of one INSERT: each number of rows is a statement to be kept. */
const maxRows = 32;
/** Pages of the write-ahead log before they are moved into the file: 16 MiB. */
const checkpointPages = 4_096;

interface Job {
  /** Does its work; gives what settles its promise once the commit is on disk. */
  readonly run: (session: SqlSession) => Promise<() => void>;
  readonly reject: (error: unknown) => void;
}

/**
 * One SQLite file: write-ahead log, full sync (what a transaction committed is on disk), statements prepared once.
 * There is one connection: nobody reads what is not committed, and transactions that wait at one moment are committed
 * together, for the disk's sync costs more than all else that they do.
 */
export class SqliteDatabase implements SqlDatabase {
  /** A transaction has the whole file. */
  readonly forUpdate = "";
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #session: SqlSession;
  #waiting: Job[] = [];
  #batch: Promise<void> | undefined;

  /**
   * Opens or makes the file and applies the migrations that it has not seen. Throws where it cannot be had,
   * or was made by a newer version.
   */
  constructor(file: string) {
    this.#db = new DatabaseSync(file, { timeout: 5_000, enableForeignKeyConstraints: true });
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${String(checkpointPages)}`);
    this.#session = {
      membersOf: (parameter, type) => this.membersOf(parameter, type),
      all: async (sql, parameters = []) => this.#prepare(sql).all(...parameters),
      insertNew: async (into, rows) => {
        for (let from = 0; from < rows.length; from += maxRows) {
          const part = rows.slice(from, from + maxRows);
          const places = part.map((row) => `(${row.map(() => "?").join(", ")})`).join(", ");
          const insert = `INSERT INTO ${into} VALUES ${places} ON CONFLICT DO NOTHING`;
          this.#prepare(insert).run(...part.flat());
        }
      },
    };
    this.#migrate();
  }

  membersOf(parameter: string, type: "TEXT" | "BIGINT"): string {
    return `(SELECT CAST(value AS ${type}) FROM json_each(${parameter}))`;
  }

  async all(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]> {
    while (this.#batch !== undefined) await this.#batch;
    return this.#session.all(sql, parameters);
  }

  async insertNew(into: string, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    return this.transaction((session) => session.insertNew(into, rows));
  }

  async transaction<T>(use: (session: SqlSession) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = async (session: SqlSession): Promise<() => void> => {
        const result = await use(session);
        return () => resolve(result);
      };
      this.#waiting.push({ run, reject });
      // Those that other requests bring in this turn of the event loop come along.
      if (this.#waiting.length === 1) setImmediate(() => void this.#commitWaiting());
    });
  }

  async close(): Promise<void> {
    while (this.#waiting.length > 0 || this.#batch !== undefined) {
      await (this.#batch ?? new Promise(setImmediate));
    }
    this.#statements.clear();
    this.#db.close();
  }

  async #commitWaiting(): Promise<void> {
    while (this.#batch !== undefined) await this.#batch;
    const jobs = this.#waiting.splice(0, maxBatch);
    if (this.#waiting.length > 0) setImmediate(() => void this.#commitWaiting());
    this.#batch = this.#commitTogether(jobs);
    await this.#batch;
    this.#batch = undefined;
  }

  /** Never rejects: each job is told what became of it, after the commit. */
  async #commitTogether(jobs: readonly Job[]): Promise<void> {
    const settle: (() => void)[] = [];
    try {
      // The write lock at once, so that what is read inside is what is written upon.
      this.#db.exec("BEGIN IMMEDIATE");
      for (const job of jobs) settle.push(await this.#runApart(job));
      this.#db.exec("COMMIT");
    } catch (error) {
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec("ROLLBACK");
      for (const { reject } of jobs) reject(error);
      return;
    }
    for (const each of settle) each();
  }

  /** One job's failure takes back its own work alone. Throws where SQLite has taken back everything, as on a full disk. */
  async #runApart({ run, reject }: Job): Promise<() => void> {
    this.#db.exec("SAVEPOINT job");
    try {
      const done = await run(this.#session);
      this.#db.exec("RELEASE job");
      return done;
    } catch (error) {
      if (!this.#db.isTransaction) throw error;
      this.#db.exec("ROLLBACK TO job; RELEASE job");
      return () => reject(error);
    }
  }

  #migrate(): void {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const [row] = this.#db.prepare("PRAGMA user_version").all();
      for (const sql of migrations.after(Number(row?.["user_version"]), "sqlite")) {
        this.#db.exec(sql);
      }
      this.#db.exec(`PRAGMA user_version = ${String(migrations.newest)}`);
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      // SQLite's own numbered parameters are `?1`.
      statement = this.#db.prepare(sql.replaceAll(/\$(\d+)/g, "?$1"));
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

import { DatabaseSync, type StatementSync } from "node:sqlite";
import { migrations } from "./migrations.ts";
import type { Row, SqlDatabase, SqlSession, SqlValue } from "./sql-database.ts";

/**
 * One SQLite file: write-ahead log, full sync (what a transaction committed is on disk), statements prepared once.
 * Calls wait for one another: there is one connection, and nobody reads what a transaction has not committed.
 */
export class SqliteDatabase implements SqlDatabase {
  /** A transaction has the whole file. */
  readonly forUpdate = "";
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #session: SqlSession;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Opens or makes the file and applies the migrations that it has not seen. Throws where it cannot be had,
   * or was made by a newer version.
   */
  constructor(file: string) {
    this.#db = new DatabaseSync(file, { timeout: 5_000, enableForeignKeyConstraints: true });
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    this.#session = {
      all: async (sql, parameters = []) => this.#prepare(sql).all(...parameters),
      insertNew: async (into, rows) => {
        if (rows.length === 0) return;
        const places = rows[0]?.map(() => "?").join(", ") ?? "";
        const insert = this.#prepare(
          `INSERT INTO ${into} VALUES (${places}) ON CONFLICT DO NOTHING`,
        );
        for (const row of rows) insert.run(...row);
      },
    };
    this.#migrate();
  }

  textsOf(parameter: string): string {
    return `(SELECT value FROM json_each(${parameter}))`;
  }

  async all(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]> {
    return this.#inTurn(() => this.#session.all(sql, parameters));
  }

  async insertNew(into: string, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    return this.#inTurn(() => this.#session.insertNew(into, rows));
  }

  async transaction<T>(use: (session: SqlSession) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      // The write lock at once, so that what is read inside is what is written upon.
      this.#db.exec("BEGIN IMMEDIATE");
      try {
        const result = await use(this.#session);
        this.#db.exec("COMMIT");
        return result;
      } catch (error) {
        if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => {
      this.#statements.clear();
      this.#db.close();
    });
  }

  async #inTurn<T>(use: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(use);
    this.#last = turn.catch(() => undefined);
    return turn;
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

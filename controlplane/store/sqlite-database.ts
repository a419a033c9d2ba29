import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

/**
 * One SQLite file: write-ahead log, full sync (what a transaction committed is on disk), statements prepared
 * once.
 */
export class SqliteDatabase {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /**
   * Opens or makes the file and applies the migrations that it has not seen. Throws where it cannot be had,
   * or was made by a newer version.
   */
  constructor(file: string, migrations: readonly string[]) {
    this.#db = new DatabaseSync(file, { timeout: 5_000, enableForeignKeyConstraints: true });
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    this.#migrate(migrations);
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #migrate(migrations: readonly string[]): void {
    this.transaction(() => {
      const [row] = this.#db.prepare("PRAGMA user_version").all();
      const done = Number(row?.["user_version"]);
      if (done > migrations.length) {
        throw new Error("the database was made by a newer version of wfvar");
      }
      for (const migration of migrations.slice(done)) this.#db.exec(migration);
      this.#db.exec(`PRAGMA user_version = ${String(migrations.length)}`);
    });
  }

  /** Takes the write lock at once, so that what is read inside is what is written upon. */
  transaction<T>(use: () => T): T {
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

  all(sql: string, ...parameters: SQLInputValue[]): Record<string, unknown>[] {
    return this.#prepare(sql).all(...parameters);
  }

  run(sql: string, ...parameters: SQLInputValue[]): void {
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

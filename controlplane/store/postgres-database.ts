import { DatabaseError, Pool } from "pg";
import { migrations } from "./migrations.ts";
import { StoreUnavailable } from "./store-unavailable.ts";
import type { Row, SqlDatabase, SqlSession, SqlValue } from "./sql-database.ts";

/** Serialization failure, deadlock; a content that went with a removed run meanwhile; a row that another made first. */
const worthRepeating = new Set(["40001", "40P01", "23502", "23503", "23505"]);
const maxRepeats = 5;
const maxConnections = 10;
const connectTimeoutMs = 5_000;
/** Bind parameters of one statement, below the protocol's 65,535. */
const maxParameters = 30_000;
/** Of the server: it goes down, comes up, or has no connection left. */
const unavailable = /^(08|57P0|53300)/;
/** Names the migrations' lock among a database's advisory locks. */
const migrationLock = 7_760_317;

/** A PostgreSQL database, from several processes at once. */
export class PostgresDatabase implements SqlDatabase {
  readonly forUpdate = " FOR UPDATE";
  readonly #pool: Pool;
  readonly #names = new Map<string, string>();

  private constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Connects and applies the migrations that the database has not seen; processes that start at once wait for
   * one another. Rejects where it cannot be had, or a newer version migrated it.
   */
  static async open(connectionString: string): Promise<PostgresDatabase> {
    const pool = new Pool({
      connectionString,
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: "wfvar-cp",
      // What is acknowledged is on disk, whatever the role's own default is.
      options: "-c synchronous_commit=on",
      keepAlive: true,
    });
    // Of a connection that nobody uses; the next query opens another, or says why it cannot.
    pool.on("error", () => undefined);
    const database = new PostgresDatabase(pool);
    try {
      await database.transaction((session) => migrate(session));
      return database;
    } catch (error) {
      // Not waited for: a connection that was refused may stay until the server has had enough.
      void pool.end();
      throw error;
    }
  }

  membersOf(parameter: string, type: "TEXT" | "BIGINT"): string {
    return `(SELECT jsonb_array_elements_text(${parameter}::jsonb)::${type})`;
  }

  async all(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]> {
    return this.#sessionOf(this.#pool).all(sql, parameters);
  }

  async insertNew(into: string, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    return this.#sessionOf(this.#pool).insertNew(into, rows);
  }

  async transaction<T>(use: (session: SqlSession) => Promise<T>): Promise<T> {
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await this.#once(use);
      } catch (error) {
        const repeat = error instanceof DatabaseError && worthRepeating.has(error.code ?? "");
        if (!repeat || repeats === maxRepeats) throw error;
      }
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #once<T>(use: (session: SqlSession) => Promise<T>): Promise<T> {
    const client = await asked(this.#pool.connect());
    let broken: Error | undefined;
    const notice = (error: Error): void => void (broken = error);
    client.on("error", notice);
    try {
      await asked(client.query("BEGIN"));
      const result = await use(this.#sessionOf(client));
      await asked(client.query("COMMIT"));
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch((failed: Error) => (broken = failed));
      throw error;
    } finally {
      client.off("error", notice);
      client.release(broken);
    }
  }

  #sessionOf(queryable: Pick<Pool, "query">): SqlSession {
    return {
      membersOf: (parameter, type) => this.membersOf(parameter, type),
      all: async (text, values = []) => {
        const name = this.#nameOf(text);
        const { rows } = await asked(queryable.query<Row>({ name, text, values: [...values] }));
        return rows;
      },
      insertNew: async (into, rows) => {
        const width = rows[0]?.length ?? 1;
        const size = Math.floor(maxParameters / width);
        for (let from = 0; from < rows.length; from += size) {
          const part = rows.slice(from, from + size);
          const places = part.map((_, row) => {
            const numbers = Array.from({ length: width }, (__, i) => row * width + i + 1);
            return `(${numbers.map((n) => `$${String(n)}`).join(", ")})`;
          });
          const text = `INSERT INTO ${into} VALUES ${places.join(", ")} ON CONFLICT DO NOTHING`;
          await asked(queryable.query({ text, values: part.flat() }));
        }
      },
    };
  }

  /** Statements with a name are prepared once per connection. */
  #nameOf(sql: string): string {
    let name = this.#names.get(sql);
    if (name === undefined) {
      name = `s${String(this.#names.size)}`;
      this.#names.set(sql, name);
    }
    return name;
  }
}

/** Tells a database that is gone from one that refuses. */
async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const isRefusal = error instanceof DatabaseError && !unavailable.test(error.code ?? "");
    if (isRefusal || !(error instanceof Error)) throw error;
    throw new StoreUnavailable(`the database does not answer: ${error.message}`, { cause: error });
  }
}

async function migrate(session: SqlSession): Promise<void> {
  await session.all("SELECT pg_advisory_xact_lock($1)", [migrationLock]);
  await session.all("CREATE TABLE IF NOT EXISTS migrations (version INTEGER NOT NULL)");
  const [row] = await session.all("SELECT COALESCE(MAX(version), 0) AS version FROM migrations");
  const version = Number(row?.["version"]);
  for (const sql of migrations.after(version, "postgres")) {
    for (const statement of sql.split(";").filter((each) => each.trim() !== "")) {
      await session.all(statement);
    }
  }
  if (version < migrations.newest) {
    await session.all("INSERT INTO migrations (version) VALUES ($1)", [migrations.newest]);
  }
}

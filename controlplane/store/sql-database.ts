/** What the store needs of a database: one that speaks SQL with `$1` parameters, and a way to say what differs. */

export type SqlValue = string | number | null | Buffer;

export type Row = Readonly<Record<string, unknown>>;

export interface SqlSession {
  /** A subquery that gives the members of the JSON array that the parameter holds. */
  membersOf(parameter: string, type: "TEXT" | "BIGINT"): string;
  all(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]>;
  /** `into` is a table with its columns; rows that are there already are left as they are. */
  insertNew(into: string, rows: readonly (readonly SqlValue[])[]): Promise<void>;
}

export interface SqlDatabase extends SqlSession {
  /** What a SELECT says to hold its rows until the transaction ends. */
  readonly forUpdate: string;
  /**
   * All or nothing, and durable when it resolves. `use` may run again where the database asks for it, so it must
   * change nothing else.
   */
  transaction<T>(use: (session: SqlSession) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

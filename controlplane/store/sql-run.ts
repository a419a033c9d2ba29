import type { JsonObject } from "../../contract/json.ts";
import type { SqlSession } from "./sql-database.ts";
import type { EventType, NewValue } from "./store.ts";

/** What a transaction adds to one run. */
export class SqlRun {
  readonly #session: SqlSession;
  readonly #run: string;

  constructor(session: SqlSession, run: string) {
    this.#session = session;
    this.#run = run;
  }

  /** By digest: two transactions that add the same contents must not wait each for the other. */
  async insertValues(
    step: string,
    attempt: number,
    at: string,
    values: readonly NewValue[],
  ): Promise<void> {
    if (values.length === 0) return;
    const sorted = values.toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
    await this.#session.insertNew(
      "contents (sha256, bytes)",
      sorted.map(({ sha256, bytes }) => [sha256, bytes]),
    );
    // By number, and not by digest: an index of digests has each of them on a page of its own.
    const ids = new Map<unknown, number>();
    const stored = await this.#session.all(
      `SELECT id, sha256 FROM contents WHERE sha256 IN ${this.#session.membersOf("$1", "TEXT")}`,
      [JSON.stringify(values.map(({ sha256 }) => sha256))],
    );
    for (const { id, sha256 } of stored) ids.set(sha256, Number(id));
    await this.#session.insertNew(
      "variables (run, step, attempt, key, size, sha256, content, kind, set_at)",
      values.map(({ key, bytes, sha256, kind }) => {
        const content = ids.get(sha256) ?? null;
        return [this.#run, step, attempt, key, bytes.length, sha256, content, kind, at];
      }),
    );
  }

  /** Gives the event's number. Holds the run's row until the transaction ends, so that numbers are committed in order. */
  async addEvent(at: string, type: EventType, data: JsonObject): Promise<number> {
    const [row] = await this.#session.all(
      "UPDATE runs SET events = events + 1, active_at = $2 WHERE run = $1 RETURNING events",
      [this.#run, at],
    );
    const seq = Number(row?.["events"]);
    await this.#session.insertNew("events (run, seq, at, type, data)", [
      [this.#run, seq, at, type, JSON.stringify(data)],
    ]);
    return seq;
  }
}

import { DatabaseSync } from "node:sqlite";

/** Every row of every table of a SQLite file, as text to compare. */
export function dumpDatabase(file: string): string {
  using db = new DatabaseSync(file, { readOnly: true });
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  return JSON.stringify(
    tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${String(name)}"`).all()]),
  );
}

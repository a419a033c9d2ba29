import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "./migrations.ts";
import type { Row } from "./sql-database.ts";

const timeoutMs = 5_000;

/**
 * Says in words where a database stands, and changes nothing. Throws where it cannot be reached, or was made by a
 * version that this one does not go on from.
 */
export async function inspectDatabase(file: string, url: string | undefined): Promise<string> {
  if (url === undefined && !existsSync(file)) return `${file} is not there yet; serve makes it`;
  const version = url === undefined ? readSqliteVersion(file) : await readPostgresVersion(url);
  const name = url === undefined ? file : "PostgreSQL";
  const missing = migrations.after(version, url === undefined ? "sqlite" : "postgres").length;
  if (version === 0) return `${name}, empty; serve makes the tables`;
  return missing === 0 ? name : `${name}, of an older version; serve migrates it`;
}

function readSqliteVersion(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true, timeout: timeoutMs });
  try {
    return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  } finally {
    database.close();
  }
}

async function readPostgresVersion(connectionString: string): Promise<number> {
  const { Client } = await import("pg");
  const client = new Client({ connectionString, connectionTimeoutMillis: timeoutMs });
  await client.connect();
  try {
    const there = await client.query<Row>("SELECT to_regclass('migrations') IS NOT NULL AS there");
    if (there.rows[0]?.["there"] !== true) return 0;
    const { rows } = await client.query<Row>("SELECT MAX(version) AS version FROM migrations");
    return Number(rows[0]?.["version"]);
  } finally {
    await client.end();
  }
}

import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { backup, DatabaseSync } from "node:sqlite";

/**
 * Copies what is committed in an SQLite file into a new one, while others go on writing. On disk when it resolves.
 * Rejects where there is no such file.
 */
export async function backUpSqlite(from: string, to: string): Promise<void> {
  if (!existsSync(from)) throw new Error("there is no database");
  const source = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
  try {
    await backup(source, to);
  } finally {
    source.close();
  }
  const copy = await open(to, "r+");
  try {
    await copy.chmod(0o600);
    await copy.sync();
  } finally {
    await copy.close();
  }
}

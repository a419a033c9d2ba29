import type { SqlDatabase } from "./sql-database.ts";

/** As `Store.removeRuns`. */
export async function removeRuns(
  db: SqlDatabase,
  idleSince: string,
  limit: number,
): Promise<number> {
  const idle = await db.all(
    `SELECT run FROM runs WHERE active_at < $1
       AND NOT EXISTS (SELECT 1 FROM steps WHERE steps.run = runs.run AND ended_at IS NULL)
     ORDER BY active_at LIMIT $2`,
    [idleSince, limit],
  );
  let removed = 0;
  for (const { run } of idle) {
    if (await removeRun(db, String(run), idleSince)) removed += 1;
  }
  return removed;
}

async function removeRun(db: SqlDatabase, run: string, idleSince: string): Promise<boolean> {
  return db.transaction(async (session) => {
    const contents = await session.all("SELECT DISTINCT content FROM variables WHERE run = $1", [
      run,
    ]);
    const gone = await session.all(
      "DELETE FROM runs WHERE run = $1 AND active_at < $2 RETURNING run",
      [run, idleSince],
    );
    if (gone.length === 0) return false;
    await session.all(
      `DELETE FROM contents WHERE id IN ${session.membersOf("$1", "BIGINT")}
       AND NOT EXISTS (SELECT 1 FROM variables WHERE variables.content = contents.id)`,
      [JSON.stringify(contents.map(({ content }) => content))],
    );
    return true;
  });
}

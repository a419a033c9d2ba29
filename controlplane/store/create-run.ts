import { readRun } from "./rows.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { SqlRun } from "./sql-run.ts";
import { inputsStep, type NewRun } from "./store.ts";

/** As `Store.createRun`. */
export async function createRun(
  db: SqlDatabase,
  run: NewRun,
): Promise<"created" | "same" | "different"> {
  return db.transaction(async (session) => {
    await session.insertNew(
      "runs (run, template, request_sha256, limits, missing_output, created_at, active_at)",
      [
        [
          run.run,
          run.template,
          run.requestSha256,
          JSON.stringify(run.limits),
          run.missingOutput,
          run.createdAt,
          run.createdAt,
        ],
      ],
    );
    const [row] = await session.all(`SELECT * FROM runs WHERE run = $1${db.forUpdate}`, [run.run]);
    const { events } = row ?? {};
    if (events !== 0) {
      return readRun(row).requestSha256 === run.requestSha256 ? "same" : "different";
    }
    const made = new SqlRun(session, run.run);
    await made.insertValues(inputsStep, 0, run.createdAt, run.inputs);
    await made.addEvent(run.createdAt, "run_created", { template: run.template });
    return "created";
  });
}

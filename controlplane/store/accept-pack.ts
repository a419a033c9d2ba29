import type { SqlDatabase } from "./sql-database.ts";
import { SqlRun } from "./sql-run.ts";
import { claimHeldStep, findStep } from "./sql-step.ts";
import type { Acceptance, AcceptedPack } from "./store.ts";

/** As `Store.acceptPack`. */
export async function acceptPack(db: SqlDatabase, pack: AcceptedPack): Promise<Acceptance> {
  const { run, step, attempt, instance, acceptedAt, receipt } = pack;
  return db.transaction(async (session): Promise<Acceptance> => {
    const held = await findStep(session, run, step, attempt, db.forUpdate);
    if (held?.accepted && held.instance === instance) {
      const { sha256, receipt: earlier } = held.accepted;
      const same = sha256 === pack.sha256;
      return { result: same ? "same" : "already_packed", sha256, receipt: earlier };
    }
    const claim = await claimHeldStep(session, held, instance, acceptedAt);
    if (claim !== "claimed") return { result: claim };
    const written = new SqlRun(session, run);
    await written.insertValues(step, attempt, acceptedAt, pack.values);
    await session.all(
      `UPDATE steps SET ended_at = $4, status = $5, cause = $6, sha256 = $7, receipt = $8, manifest = $9
       WHERE run = $1 AND step = $2 AND attempt = $3`,
      [
        run,
        step,
        attempt,
        acceptedAt,
        receipt.status,
        JSON.stringify(receipt.cause),
        pack.sha256,
        JSON.stringify(receipt),
        pack.manifest,
      ],
    );
    const { status, cause, accepted } = receipt;
    await written.addEvent(acceptedAt, "step_ended", { step, attempt, status, cause, accepted });
    return { result: "accepted" };
  });
}

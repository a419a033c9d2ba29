import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { describeSettings, readSettings } from "../../contract/settings.ts";
import { placeSettings, placesOf } from "../config.ts";
import { backUpSqlite } from "../store/backup-sqlite.ts";
import type { ServeCommandDeps } from "./serve-command.ts";
import { showPage } from "./show-page.ts";
import { explaining, UsageError } from "./usage-error.ts";

const { dataDir } = placeSettings;

export const backupHelp = `wfvar-cp backup FILE [flags]: copies the SQLite database while it is in use

${describeSettings({ dataDir })}

  FILE must not exist, and has the database of one moment. Keys and the operator token are files of their own in the data
  folder: copy them too. PostgreSQL has pg_dump.
`;

/** `wfvar-cp backup`. Throws UsageError. */
export async function backupCommand(
  argv: readonly string[],
  { env, out }: Pick<ServeCommandDeps, "env" | "out">,
): Promise<void> {
  const read = readSettings(placeSettings, argv, env);
  if (showPage(read, backupHelp, out)) return;
  const [file, ...extra] = read.words;
  const problems = [...read.problems];
  if (file === undefined || extra.length > 0) problems.push("name one file: wfvar-cp backup FILE");
  if (read.values.databaseUrl !== undefined) {
    problems.push("DATABASE_URL names a PostgreSQL database; back it up with pg_dump");
  }
  if (file !== undefined && existsSync(file)) problems.push(`${file} exists; name a new file`);
  if (file === undefined || problems.length > 0) throw new UsageError(problems);
  const { databaseFile } = placesOf(read.values);
  // Under its own name only when it is whole.
  const aside = `${file}.part`;
  try {
    await explaining(`${databaseFile} cannot be copied to ${file}`, () =>
      backUpSqlite(databaseFile, aside),
    );
    await rename(aside, file);
  } finally {
    await rm(aside, { force: true });
  }
  out.write(`${file}\n`);
}

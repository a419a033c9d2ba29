import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { SqliteDatabase } from "../../../controlplane/store/sqlite-database.ts";
import { SqlStore } from "../../../controlplane/store/sql-store.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { describeStore } from "./store-contract.ts";

describeStore("SQLite", async () => new SqlStore(new SqliteDatabase(join(tempFolder(), "cp.db"))));

describe("an SQLite file", () => {
  it("is not touched by a version that does not know it", () => {
    const file = join(tempFolder(), "cp.db");
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 99");
    database.close();
    expect(() => new SqliteDatabase(file)).toThrow("made by a newer version of wfvar");
  });

  it("is copied whole while it is written to", async () => {
    const file = join(tempFolder(), "cp.db");
    await using store = disposing(new SqliteDatabase(file));
    await store.database.transaction(async (session) => {
      await session.insertNew("contents (sha256, bytes)", [["a", Buffer.alloc(1024 ** 2)]]);
    });
    const copy = join(tempFolder(), "copy.db");
    await Promise.all([
      store.database.backup(copy),
      store.database.insertNew("contents (sha256, bytes)", [["b", Buffer.alloc(1)]]),
    ]);
    const check = spawnSync(process.execPath, [
      "-e",
      `const { DatabaseSync } = require("node:sqlite");
       const copy = new DatabaseSync(${JSON.stringify(copy)});
       console.log(copy.prepare("PRAGMA integrity_check").get().integrity_check,
         copy.prepare("SELECT COUNT(*) AS n FROM contents WHERE sha256 = 'a'").get().n);`,
    ]);
    expect(check.stdout.toString()).toBe("ok 1\n");
  });
});

function disposing(database: SqliteDatabase) {
  return { database, [Symbol.asyncDispose]: () => database.close() };
}

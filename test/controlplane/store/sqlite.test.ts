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

  it("is not touched where it was made before the first release", () => {
    const file = join(tempFolder(), "cp.db");
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 1");
    database.close();
    expect(() => new SqliteDatabase(file)).toThrow("choose another data folder, or remove it");
  });
});

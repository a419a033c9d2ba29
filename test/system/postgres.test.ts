import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresDatabase } from "../../controlplane/store/postgres-database.ts";
import { SqlStore } from "../../controlplane/store/sql-store.ts";
import { describeStore } from "../controlplane/store/store-contract.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";

let server: TestPostgres;
let shared = "";
beforeAll(async () => {
  server = await startPostgres();
  shared = await server.createDatabase();
});
afterAll(() => server[Symbol.asyncDispose]());

describeStore("PostgreSQL", async () => new SqlStore(await PostgresDatabase.open(shared)));

describe("a PostgreSQL database", () => {
  it("is migrated once by many that start at the same time", async () => {
    const url = await server.createDatabase();
    const opened = await Promise.all(Array.from({ length: 5 }, () => PostgresDatabase.open(url)));
    const rows = await opened[0]?.all("SELECT version FROM migrations");
    expect(rows).toHaveLength(1);
    await Promise.all(opened.map((database) => database.close()));
  });

  it("is not touched by a version that does not know it", async () => {
    const url = await server.createDatabase();
    const database = await PostgresDatabase.open(url);
    await database.all("UPDATE migrations SET version = 99");
    await database.close();
    await expect(PostgresDatabase.open(url)).rejects.toThrow("made by a newer version of wfvar");
  });

  it("fails clearly where nothing listens", async () => {
    await expect(PostgresDatabase.open("postgres://127.0.0.1:1/x")).rejects.toThrow("ECONNREFUSED");
  });
});

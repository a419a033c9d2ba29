import { afterAll, beforeAll, describe, it } from "vitest";
import { surviveKills } from "../support/kills.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { serveControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

const rounds = 30;

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

describe("a control plane killed 30 times under load", () => {
  it("has every acknowledged pack whole, and no half one, in SQLite", async () => {
    const dataDir = tempFolder();
    await surviveKills(rounds, () => serveControlPlane(dataDir));
  });

  it("has every acknowledged pack whole, and no half one, in PostgreSQL", async () => {
    const dataDir = tempFolder();
    const env = { DATABASE_URL: await server.createDatabase() };
    await surviveKills(rounds, () => serveControlPlane(dataDir, 0, env));
  });
});

describe("a database server that crashes under load", () => {
  it("loses nothing that was acknowledged, and the control plane goes on by itself", async () => {
    const dataDir = tempFolder();
    const env = { DATABASE_URL: await server.createDatabase(), WFVAR_LOG_LEVEL: "error" };
    const cp = await serveControlPlane(dataDir, 0, env);
    // The database is what is killed; the control plane is the same all along.
    const serve = async () => ({
      ...cp,
      kill: async () => {
        await server.crash();
        await server.start();
      },
    });
    await surviveKills(5, serve);
  });
});

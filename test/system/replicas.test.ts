import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { args, deployment, env, mounts } from "../docker/control-plane-container.ts";
import { serveAsWritten } from "../docker/serve-as-written.ts";
import { makePack, putPack } from "../support/packs.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { tempFolder } from "../support/temp-folder.ts";

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

it("the Deployment's replicas over one PostgreSQL take each other's calls, and go on when one ends", async () => {
  expect(deployment.replicas).toBe(2);
  const folder = tempFolder();
  const written = {
    args,
    mounts,
    folder,
    env: { ...env, DATABASE_URL: await server.createDatabase() },
  };
  const one = await serveAsWritten(written);
  const other = await serveAsWritten(written);

  const secret = one.at(env["WFVAR_OPERATOR_TOKEN_FILE"] ?? "");
  const headers = {
    authorization: `Bearer ${readFileSync(secret, "utf8").trim()}`,
    "content-type": "application/json",
  };
  const post = async (url: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(201);
    return (await answer.json()) as Record<string, unknown>;
  };
  await post(`${one.operatorUrl}/v1/runs`, { run: "r", template: "t" });
  const { token } = await post(`${one.operatorUrl}/v1/runs/r/steps`, { step: "judge" });

  const pack = await makePack({ run: "r", step: "judge", values: { "judge.verdict": "approve" } });
  const delivery = { token: String(token) };
  expect((await putPack(other.stepUrl, "r", "judge", pack, delivery)).status).toBe(201);
  expect((await putPack(one.stepUrl, "r", "judge", pack, delivery)).status).toBe(200);

  other.child.kill("SIGTERM");
  expect(await once(other.child, "exit")).toEqual([0, null]);
  const value = await fetch(`${one.operatorUrl}/v1/runs/r/variables/judge.verdict`, { headers });
  expect(await value.text()).toBe("approve");
  expect((await fetch(`${one.operatorUrl}/readyz`)).status).toBe(200);
});

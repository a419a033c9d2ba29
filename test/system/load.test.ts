import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Agent } from "undici";
import { expect, it } from "vitest";
import { parseStepPath } from "../../contract/ids.ts";
import type { StampedStep } from "../../contract/wire.ts";
import { createCpClient } from "../../sidecar/cp-client.ts";
import { Deadline } from "../../sidecar/deadline.ts";
import { deliver } from "../../sidecar/deliver.ts";
import { readAllVariables } from "../support/all-variables.ts";
import { makePack } from "../support/packs.ts";
import { startPostgres } from "../support/postgres.ts";
import { serveControlPlane, type ServedControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

const packs = 5_000;
const clients = 50;
const runs = 20;

it("three control planes on one PostgreSQL accept 5,000 packs once, each delivered twice", async () => {
  await using server = await startPostgres();
  const dataDir = tempFolder();
  const env = { DATABASE_URL: await server.createDatabase() };
  const first = await serveControlPlane(dataDir, 0, env);
  const replicas = [
    first,
    await serveControlPlane(dataDir, 0, env),
    await serveControlPlane(dataDir, 0, env),
  ];
  for (let run = 0; run < runs; run += 1) {
    await first.call("POST", "/v1/runs", { run: `run-${String(run)}`, template: "load" });
  }
  const expected = new Map<string, string>();
  let next = 0;
  const tokenDir = tempFolder();
  const client = async (id: number): Promise<void> => {
    const tokenFile = join(tokenDir, String(id));
    for (let n = next++; n < packs; n = next++) {
      const [run, step] = [`run-${String(n % runs)}`, `s${String(n)}x`];
      const value = `${String(n)} `.repeat(1 + (n % 50));
      expected.set(`${run} ${step}.v`, createHash("sha256").update(value).digest("hex"));
      const at = (shift: number): ServedControlPlane =>
        replicas[(n + shift) % replicas.length] ?? first;
      const stamped = await at(0).call("POST", `/v1/runs/${run}/steps`, { step });
      writeFileSync(tokenFile, ((await stamped.json()) as StampedStep).token);
      const body = await makePack({ run, step, values: { [`${step}.v`]: value } });
      // To two replicas, and every third time at the same moment.
      const twice = [1, 2].map(
        (shift) => () => sendOnce(at(shift).stepUrl, tokenFile, run, step, body),
      );
      if (n % 3 === 0) await Promise.all(twice.map((send) => send()));
      else for (const send of twice) await send();
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, id) => client(id)));

  const stored = new Map<string, string>();
  for (let run = 0; run < runs; run += 1) {
    for (const { key, sha256, attempt } of await readAllVariables(first, `run-${String(run)}`)) {
      if (attempt > 0) stored.set(`run-${String(run)} ${key}`, sha256);
    }
  }
  expect(stored).toEqual(expected);
  expect(await countPacks(replicas, "accepted")).toBe(packs);
  expect(await countPacks(replicas, "repeated")).toBe(packs);
});

const network = new Agent();

/** As a pod's sidecar sends its pack. */
async function sendOnce(
  cpUrl: string,
  tokenFile: string,
  run: string,
  step: string,
  body: Buffer,
): Promise<void> {
  const path = parseStepPath(step);
  if (path === undefined) throw new Error(`${step} is no step`);
  const target = {
    cpUrl: new URL(cpUrl),
    tokenFile,
    run,
    step: path,
    attempt: 1,
    instance: "pod-1",
    caFile: undefined,
    proxy: undefined,
    traceparent: undefined,
  };
  using deadline = new Deadline(Date.now() + 60_000, Date.now);
  const client = await createCpClient(target, deadline, network);
  const sha256 = createHash("sha256").update(body).digest();
  const pack = { chunks: [body], size: body.length, sha256 };
  const sleep = async (ms: number): Promise<void> => delay(ms);
  const deps = { now: Date.now, random: Math.random, sleep, onRetry: () => undefined };
  await deliver(pack, client, deadline, deps);
}

async function countPacks(
  replicas: readonly ServedControlPlane[],
  result: string,
): Promise<number> {
  let sum = 0;
  for (const { operatorUrl } of replicas) {
    const text = await (await fetch(`${operatorUrl}/metrics`)).text();
    const pattern = new RegExp(`^wfvar_packs_total\\{result="${result}"[^}]*\\} (\\d+)$`, "gm");
    for (const [, count] of text.matchAll(pattern)) sum += Number(count);
  }
  return sum;
}

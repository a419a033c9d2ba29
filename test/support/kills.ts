import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { StampedStep } from "../../contract/wire.ts";
import { readAllVariables } from "./all-variables.ts";
import { makePack, putPack } from "./packs.ts";
import type { ServedControlPlane } from "./served-control-plane.ts";

const clients = 8;
const enough = 3;

interface Attempted {
  readonly run: string;
  readonly step: string;
  /** Of the step's value `a`; `b` says it in digits. */
  readonly size: number;
}

/**
 * Kills a control plane under load, again and again, at moments that differ, and then looks: every pack that was
 * acknowledged is there whole, and of no pack there is a half (WV-12).
 */
export async function surviveKills(
  rounds: number,
  serve: () => Promise<ServedControlPlane>,
): Promise<void> {
  const acknowledged = new Set<Attempted>();
  const attempted: Attempted[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const cp = await serve();
    const run = await makeRun(cp);
    const before = acknowledged.size;
    const stop = new AbortController();
    const client = async (id: number): Promise<void> => {
      for (let n = 0; !stop.signal.aborted; n += 1) {
        const size = 1 + ((n * 7919) % 50_000);
        const sent = { run, step: `s${String(id)}-${String(n)}x`, size };
        attempted.push(sent);
        try {
          if ((await stampAndDeliver(cp, sent)) === 201) acknowledged.add(sent);
        } catch {
          return;
        }
      }
    };
    const load = Array.from({ length: clients }, (_, id) => client(id));
    // Under load for certain, however slow the machine is; then at some moment.
    while (acknowledged.size < before + enough) await delay(10);
    await delay((round * 137) % 400);
    await cp.kill();
    stop.abort();
    await Promise.all(load);
  }

  const cp = await serve();
  const stored = new Map<string, number>();
  for (const run of new Set(attempted.map((each) => each.run))) {
    for (const { key, size } of await readAllVariables(cp, run)) {
      stored.set(`${run} ${key}`, size);
    }
  }
  for (const each of attempted) {
    const { run, step, size } = each;
    const found = [stored.get(`${run} ${step}.a`), stored.get(`${run} ${step}.b`)];
    const whole = [size, String(size).length];
    if (acknowledged.has(each)) expect([step, found]).toEqual([step, whole]);
    else expect([whole, [undefined, undefined]]).toContainEqual(found);
  }
}

/** Asks until it has one: a database that has just come up may have the control plane say 503. */
async function makeRun(cp: ServedControlPlane): Promise<string> {
  for (;;) {
    const created = await cp.call("POST", "/v1/runs", { template: "load" });
    const { run } = (await created.json()) as { run: string };
    if (created.status === 201) return run;
    expect(created.status).toBe(503);
    await delay(50);
  }
}

async function stampAndDeliver(
  cp: ServedControlPlane,
  { run, step, size }: Attempted,
): Promise<number> {
  const stamped = await cp.call("POST", `/v1/runs/${run}/steps`, { step });
  const { token } = (await stamped.json()) as StampedStep;
  const values = { [`${step}.a`]: "x".repeat(size), [`${step}.b`]: String(size) };
  const body = await makePack({ run, step, values });
  return (await putPack(cp.stepUrl, run, step, body, { token })).status;
}

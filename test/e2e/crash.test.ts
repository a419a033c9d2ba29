import { once } from "node:events";
import { expect, it } from "vitest";
import type { StampedStep } from "../../contract/wire.ts";
import { makePack, putPack } from "../support/packs.ts";
import { serveControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

const rounds = 6;
const clients = 8;

it(
  "a control plane killed under load has every acknowledged pack whole, and no half one",
  { timeout: 120_000 },
  async () => {
    const dataDir = tempFolder();
    const acknowledged = new Map<string, { run: string; size: number }>();
    const attempted: { run: string; step: string; size: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const cp = await serveControlPlane(dataDir);
      const created = await cp.call("POST", "/v1/runs", { template: "load" });
      const { run } = (await created.json()) as { run: string };
      const stop = new AbortController();
      // Killed after so many, in the middle of others: sooner on a fast machine, later on a slow one.
      const enough = acknowledged.size + clients + 3 * round + 1;
      const loaded = new AbortController();
      const client = async (id: number): Promise<void> => {
        for (let n = 0; !stop.signal.aborted; n += 1) {
          const step = `s${String(round)}-${String(id)}-${String(n)}x`;
          try {
            const stamped = (await (
              await cp.call("POST", `/v1/runs/${run}/steps`, { step })
            ).json()) as StampedStep;
            const size = 1 + ((n * 7919) % 50_000);
            const values = { [`${step}.a`]: "x".repeat(size), [`${step}.b`]: String(size) };
            attempted.push({ run, step, size });
            const body = await makePack({ run, step, values });
            const { status } = await putPack(cp.stepUrl, run, step, body, { token: stamped.token });
            if (status === 201) acknowledged.set(step, { run, size });
            if (acknowledged.size === enough) loaded.abort();
          } catch {
            return;
          }
        }
      };
      const load = Array.from({ length: clients }, (_, id) => client(id));
      if (!loaded.signal.aborted) await once(loaded.signal, "abort");
      await cp.kill();
      stop.abort();
      await Promise.all(load);
    }
    expect(acknowledged.size).toBeGreaterThan(rounds * clients);

    const cp = await serveControlPlane(dataDir);
    const runs = new Set(attempted.map(({ run }) => run));
    const stored = new Map<string, number>();
    for (const run of runs) {
      const { variables } = (await (await cp.call("GET", `/v1/runs/${run}/variables`)).json()) as {
        variables: { key: string; size: number }[];
      };
      for (const { key, size } of variables) stored.set(key, size);
    }
    for (const [step, { size }] of acknowledged) {
      expect([stored.get(`${step}.a`), stored.get(`${step}.b`)]).toEqual([
        size,
        String(size).length,
      ]);
    }
    for (const { step, size } of attempted) {
      const whole = [stored.get(`${step}.a`), stored.get(`${step}.b`)];
      expect([
        [size, String(size).length],
        [undefined, undefined],
      ]).toContainEqual(whole);
    }
  },
);

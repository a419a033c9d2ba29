import { expect, it } from "vitest";
import type { StampedStep } from "../../contract/wire.ts";
import { makePack, putPack } from "../support/packs.ts";
import { serveControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

interface Page {
  readonly variables: readonly { readonly key: string; readonly size: number }[];
  readonly next: string | null;
}

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
          } catch {
            return;
          }
        }
      };
      const load = Array.from({ length: clients }, (_, id) => client(id));
      // In the midst of it, at another moment each time.
      const enough = acknowledged.size + clients + round;
      await expect.poll(() => acknowledged.size, { interval: 5 }).toBeGreaterThan(enough);
      await cp.kill();
      stop.abort();
      await Promise.all(load);
    }
    expect(acknowledged.size).toBeGreaterThan(rounds * clients);

    const cp = await serveControlPlane(dataDir);
    const runs = new Set(attempted.map(({ run }) => run));
    const stored = new Map<string, number>();
    for (const run of runs) {
      for (let next: string | null = ""; next !== null;) {
        const cursor: string = next === "" ? "" : `&cursor=${next}`;
        const page = await cp.call("GET", `/v1/runs/${run}/variables?limit=1000${cursor}`);
        const list = (await page.json()) as Page;
        for (const { key, size } of list.variables) stored.set(key, size);
        next = list.next;
      }
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

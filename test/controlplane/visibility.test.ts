import { assert as assertProperty, asyncProperty } from "fast-check";
import { expect, it } from "vitest";
import { startControlPlane } from "../support/control-plane.ts";
import { scenario } from "./visibility-scenario.ts";
import { newTally, VisibilityWorld } from "./visibility-world.ts";

const runs = 60;
/**
 * `npm run test:fuzz` asks for more, and gets others each time. It counts cheap things; each of these is a hundred
 * calls, so they are a tenth as many.
 */
const asked = process.env["FUZZ_RUNS"];
const sampling =
  asked === undefined
    ? { numRuns: runs, seed: 9 }
    : { numRuns: Math.max(runs, Number(asked) / 40) };

it(
  "shows each step exactly what WV-9 lets it see, and the operator every value",
  { timeout: 1_200_000 },
  async () => {
    const cp = await startControlPlane();
    const tally = newTally();
    let count = 0;
    await assertProperty(
      asyncProperty(scenario, async ({ inputs, events, prefix }) => {
        count += 1;
        const ids = [`run-${String(count)}`, `RUN-${String(count)}`] as const;
        const world = new VisibilityWorld(cp, tally);
        await world.createRun(ids[0], inputs[0]);
        await world.createRun(ids[1], inputs[1]);
        for (const event of events) {
          if (event.what === "stamp") await world.stamp(ids[event.run], event);
          else if (event.what === "look") await world.look(event.which);
          else await world.deliver(event.which, event.delivery);
        }
        await world.lookEverywhere();
        for (const run of ids) await world.list(run, prefix);
      }),
      sampling,
    );
    // Each kind of thing was met, so the scenarios are not blind to it.
    for (const [name, met] of Object.entries(tally)) expect(met, name).toBeGreaterThan(count / 4);
  },
);

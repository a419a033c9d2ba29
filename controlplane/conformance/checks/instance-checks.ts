import type { Check } from "../check.ts";
import { expectRefusal, expectStatus } from "../expectations.ts";
import { makePack } from "../make-pack.ts";
import { secondInstance } from "../subject.ts";

const second = { instance: secondInstance };

/** One pod has an attempt, and only the newest attempt counts (WV-12). */
export const instanceChecks: readonly Check[] = [
  {
    clause: "WV-12",
    title: "refuses the prefill to a second instance",
    run: async (subject) => {
      const step = await subject.stamp();
      expectStatus(await subject.prefill(step), 200);
      expectRefusal(await subject.prefill(step, second), "stale_instance");
    },
  },
  {
    clause: "WV-12",
    title: "refuses the pack of a second instance, and still takes the first one's",
    run: async (subject) => {
      const step = await subject.stamp();
      expectStatus(await subject.prefill(step), 200);
      const other = await makePack(step, { ...second, values: { a: "2" } });
      expectRefusal(await subject.deliver(step, other, second), "stale_instance");
      const own = await makePack(step, { values: { a: "1" } });
      expectStatus(await subject.deliver(step, own), 201);
    },
  },
  {
    clause: "WV-12",
    title: "counts an accepted pack as the claim, where no prefill was fetched",
    run: async (subject) => {
      const step = await subject.stamp();
      expectStatus(await subject.deliver(step, await makePack(step)), 201);
      expectRefusal(await subject.prefill(step, second), "stale_instance");
      const other = await makePack(step, second);
      expectRefusal(await subject.deliver(step, other, second), "stale_instance");
    },
  },
  {
    clause: "WV-12",
    title: "gives the first instance its prefill again, also after its pack",
    run: async (subject) => {
      const step = await subject.stamp();
      expectStatus(await subject.prefill(step), 200);
      expectStatus(await subject.deliver(step, await makePack(step)), 201);
      expectStatus(await subject.prefill(step), 200);
    },
  },
  ...[
    ["without Wfvar-Instance", null],
    ["with a Wfvar-Instance of 129 characters", "i".repeat(129)],
    ["with a blank in Wfvar-Instance", "pod 1"],
  ].flatMap(([what, instance = null]): Check[] => [
    {
      clause: "API-instances",
      title: `refuses the prefill ${String(what)}`,
      run: async (subject) => {
        const step = await subject.stamp();
        expectRefusal(await subject.prefill(step, { instance }), "invalid_request");
      },
    },
    {
      clause: "API-instances",
      title: `refuses the pack ${String(what)}`,
      run: async (subject) => {
        const step = await subject.stamp();
        const answer = await subject.deliver(step, await makePack(step), { instance });
        expectRefusal(answer, "invalid_request");
      },
    },
  ]),
  {
    clause: "WV-12",
    title: "refuses an older attempt's prefill and pack once a newer one is stamped",
    run: async (subject) => {
      const older = await subject.stamp();
      await subject.stamp("retry", older);
      expectRefusal(await subject.prefill(older), "stale_attempt");
      expectRefusal(await subject.deliver(older, await makePack(older)), "stale_attempt");
    },
  },
  {
    clause: "WV-12",
    title: "takes the newer attempt's pack after the older one had claimed",
    run: async (subject) => {
      const older = await subject.stamp();
      expectStatus(await subject.prefill(older), 200);
      const newer = await subject.stamp("retry", older);
      const body = await makePack(newer, { ...second, values: { a: "1" } });
      expectStatus(await subject.deliver(newer, body, second), 201);
    },
  },
  {
    clause: "WV-12",
    title: "answers an older attempt's accepted body with 200, also after a newer one is stamped",
    run: async (subject) => {
      const older = await subject.stamp();
      const body = await makePack(older, { values: { a: "1" } });
      expectStatus(await subject.deliver(older, body), 201);
      await subject.stamp("retry", older);
      expectStatus(await subject.deliver(older, body), 200);
    },
  },
];

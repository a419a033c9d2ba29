import { maxPackBytes } from "../../../contract/limits.ts";
import { valuesFolder } from "../../../contract/pack.ts";
import type { Check } from "../check.ts";
import { expectEqual, expectRefusal, expectStatus } from "../expectations.ts";
import type { FreshStep } from "../fixture.ts";
import { endBlocks, makePack } from "../make-pack.ts";
import { fetchVisible } from "../read-prefill.ts";
import { secondInstance, type Answer, type Subject } from "../subject.ts";

const largeBytes = 4 * 1024 ** 2;

/** After a refusal nothing is stored, the attempt is open, and the next call is answered (WV-12). */
export const aftermathChecks: readonly Check[] = [
  takesRightPackAfter("a body that did not match its digest", async (subject, step) => {
    const headers = { "content-digest": `sha-256=:${"A".repeat(43)}=:` };
    return subject.deliver(step, await makePack(step, { values: { a: "0" } }), { headers });
  }),
  takesRightPackAfter("a value that was not UTF-8", async (subject, step) =>
    subject.deliver(step, await halfGood(step)),
  ),
  takesRightPackAfter("a tar that was cut short", async (subject, step) => {
    const whole = await makePack(step, { values: { a: "0" } });
    return subject.deliver(step, whole.subarray(0, -endBlocks.length));
  }),
  takesRightPackAfter("a pack.json of another instance", async (subject, step) =>
    subject.deliver(step, await makePack(step, { instance: secondInstance })),
  ),
  takesRightPackAfter("an entry that was not announced", async (subject, step) =>
    subject.deliver(
      step,
      await makePack(step, { entries: [[`${valuesFolder}${step.step}.a`, "0"]] }),
    ),
  ),
  takesRightPackAfter("a body that was too long", async (subject, step) =>
    subject.deliver(step, Buffer.alloc(maxPackBytes(step.limits) + 1)),
  ),
  {
    clause: "WV-12",
    title: "takes the right pack after a connection that was cut in the middle of one",
    run: async (subject) => {
      const step = await subject.stamp();
      await subject.cutDelivery(step, await makePack(step, { values: { a: "x".repeat(1024) } }));
      expectStatus(await subject.deliver(step, await rightPack(step)), 201);
    },
  },
  {
    clause: "WV-12",
    title: "shows nothing of a refused pack, neither before nor after the right one",
    run: async (subject) => {
      const step = await subject.stamp();
      expectRefusal(await subject.deliver(step, await halfGood(step)), "invalid_pack");
      expectEqual("values", await valuesSeen(subject, await subject.stamp("next", step)), {});
      expectStatus(await subject.deliver(step, await rightPack(step)), 201);
      const after = await valuesSeen(subject, await subject.stamp("next", step));
      expectEqual("values", after, { [`${step.step}.right`]: "1" });
    },
  },
  {
    clause: "WV-12",
    title: "keeps what it accepted when another body is refused",
    run: async (subject) => {
      const step = await subject.stamp();
      expectStatus(await subject.deliver(step, await rightPack(step)), 201);
      const other = await makePack(step, { values: { other: "2" } });
      expectRefusal(await subject.deliver(step, other), "already_packed");
      const seen = await valuesSeen(subject, await subject.stamp("next", step));
      expectEqual("values", seen, { [`${step.step}.right`]: "1" });
    },
  },
  {
    clause: "WV-12",
    title: "sends an answer that can be read, also to a body of 4 MiB that it does not want",
    run: async (subject) => {
      const step = await subject.stamp();
      const answer = await subject.deliver(step, Buffer.alloc(largeBytes), { token: "nobodys" });
      expectRefusal(answer, "unauthorized");
      expectStatus(await subject.prefill(step), 200);
    },
  },
];

/** What was refused, and why, is another check's to say: this one is about what comes after. */
function takesRightPackAfter(
  what: string,
  refused: (subject: Subject, step: FreshStep) => Promise<Answer>,
): Check {
  return {
    clause: "WV-12",
    title: `takes the right pack after ${what}`,
    run: async (subject) => {
      const step = await subject.stamp();
      await refused(subject, step);
      expectStatus(await subject.deliver(step, await rightPack(step)), 201);
    },
  };
}

async function rightPack(step: FreshStep): Promise<Buffer> {
  return makePack(step, { values: { right: "1" } });
}

/** Its first value is fine. */
async function halfGood(step: FreshStep): Promise<Buffer> {
  return makePack(step, { values: { a: "0", b: Buffer.from([0xff]) } });
}

async function valuesSeen(subject: Subject, step: FreshStep): Promise<object> {
  const { values } = await fetchVisible(subject, step);
  const others = [...values].filter(([key]) => !/^(workflow)?\./.test(key));
  return Object.fromEntries(others.map(([key, bytes]) => [key, bytes.toString()]));
}

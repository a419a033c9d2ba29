import type { ApiCode } from "../../../contract/codes.ts";
import { parseJsonObject } from "../../../contract/json.ts";
import { problem } from "../../../contract/wire.ts";
import { statusOf } from "../../api-error.ts";
import { Mismatch, type Check } from "../check.ts";
import { describeAnswer, expectEqual, expectRefusal } from "../expectations.ts";
import type { FreshStep } from "../fixture.ts";
import { makePack } from "../make-pack.ts";
import { secondInstance, type Answer, type Subject } from "../subject.ts";

const marked = "conformance-marked-text";

type Provoke = (subject: Subject, step: FreshStep) => Promise<Answer>;

/** One way to each refusal that a sidecar has to tell from the others. */
const refusals: readonly (readonly [ApiCode, Provoke])[] = [
  ["unauthorized", (subject, step) => subject.prefill(step, { token: null })],
  [
    "forbidden",
    async (subject, step) => subject.prefill(step, { token: (await subject.stamp()).token }),
  ],
  ["invalid_request", (subject, step) => subject.prefill(step, { instance: null })],
  [
    "invalid_pack",
    async (subject, step) =>
      subject.deliver(step, await makePack(step, { manifest: { version: 2 } })),
  ],
  [
    "already_packed",
    async (subject, step) => {
      await subject.deliver(step, await makePack(step));
      return subject.deliver(step, await makePack(step, { values: { a: "1" } }));
    },
  ],
  [
    "stale_instance",
    async (subject, step) => {
      await subject.prefill(step);
      return subject.prefill(step, { instance: secondInstance });
    },
  ],
];

/** Refusals as problem documents with a code of the closed list (API page, Problems). */
export const problemChecks: readonly Check[] = [
  ...refusals.map(([code, provoke]): Check => ({
    clause: "API-problems",
    title: `answers ${String(statusOf[code])} ${code} with a whole problem document`,
    run: async (subject) => expectProblem(await provoke(subject, await subject.stamp())),
  })),
  {
    clause: "API-problems",
    title: "answers a call that there is not with 404 not_found",
    run: async (subject) => {
      const step = await subject.stamp();
      expectRefusal(await subject.call("GET", "no-such-call", step, undefined, {}), "not_found");
    },
  },
  {
    clause: "API-problems",
    title: "repeats neither a token nor a value in a refusal",
    run: async (subject) => {
      const step = await subject.stamp();
      const value = Buffer.concat([Buffer.from(marked), Buffer.from([0xff])]);
      const answers = [
        await subject.prefill(step, { token: marked }),
        await subject.deliver(step, await makePack(step, { values: { a: value } })),
      ];
      for (const { body } of answers) {
        if (body.includes(marked)) throw new Mismatch("neither of them", "it repeated");
      }
    },
  },
];

function expectProblem(answer: Answer): void {
  const type = String(answer.headers["content-type"] ?? "none").replace(/;.*/, "");
  if (answer.status < 400) throw new Mismatch("a refusal", describeAnswer(answer));
  expectEqual("Content-Type", type, "application/problem+json");
  const document = problem.safeParse(parseJsonObject(answer.body));
  if (!document.success) {
    const [issue] = document.error.issues;
    throw new Mismatch(
      "type, title, status, code and detail",
      `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`,
    );
  }
  expectEqual("status", document.data.status, answer.status);
}

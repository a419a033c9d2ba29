import type { ApiCode } from "../../../contract/codes.ts";
import type { Check } from "../check.ts";
import { expectRefusal, expectStatus } from "../expectations.ts";
import type { FreshStep } from "../fixture.ts";
import { makePack } from "../make-pack.ts";
import type { Answer, CallOptions, Subject } from "../subject.ts";

const nobodysRun = "conformance-no-such-run";
/** Beyond what any fixture has reached. */
const nobodysAttempt = "999999";

/** A token opens the two calls of its own attempt, and nothing else (API page, Tokens). */
export const tokenChecks: readonly Check[] = [
  ...onBothCalls("without a token", ["unauthorized"], async () => ({ token: null })),
  ...onBothCalls("with a token that nobody gave", ["unauthorized"], async () => ({
    token: "conformance-no-such-token",
  })),
  ...onBothCalls("with a token that was changed", ["unauthorized"], async (_, { token }) => ({
    token: changed(token),
  })),
  ...onBothCalls("with another step's token", ["forbidden"], async (subject) => ({
    token: (await subject.stamp()).token,
  })),
  ...onBothCalls("for a run that is not the token's", ["forbidden", "not_found"], async () => ({
    run: nobodysRun,
  })),
  ...onBothCalls(
    "for an attempt that is not the token's",
    ["forbidden", "not_found"],
    async () => ({
      attempt: nobodysAttempt,
    }),
  ),
  ...onBothCalls("without an attempt", ["invalid_request", "forbidden", "not_found"], async () => ({
    attempt: null,
  })),
  ...onBothCalls(
    "for an attempt that is no number",
    ["invalid_request", "forbidden", "not_found"],
    async () => ({ attempt: "one" }),
  ),
  {
    clause: "API-tokens",
    title: "refuses a newer attempt's calls with the older one's token",
    run: async (subject) => {
      const older = await subject.stamp();
      const newer = await subject.stamp("retry", older);
      expectRefusal(await subject.prefill(newer, { token: older.token }), "forbidden");
    },
  },
  {
    clause: "API-tokens",
    title: "still opens the step's calls after others were turned away",
    run: async (subject) => {
      const step = await subject.stamp();
      for (const token of [null, changed(step.token)]) {
        const answer = await subject.prefill(step, { token, instance: "conformance-stranger" });
        expectRefusal(answer, "unauthorized");
      }
      expectStatus(await subject.prefill(step), 200);
    },
  },
];

/** The prefill and the pack, each called with something that must not open it. */
function onBothCalls(
  what: string,
  codes: readonly ApiCode[],
  optionsOf: (subject: Subject, step: FreshStep) => Promise<CallOptions>,
): readonly Check[] {
  const refuses = (
    name: string,
    call: (subject: Subject, step: FreshStep, options: CallOptions) => Promise<Answer>,
  ): Check => ({
    clause: "API-tokens",
    title: `refuses the ${name} ${what}`,
    run: async (subject) => {
      const step = await subject.stamp();
      const options = await optionsOf(subject, step);
      expectRefusal(await call(subject, step, options), ...codes);
    },
  });
  return [
    refuses("prefill", (subject, step, options) => subject.prefill(step, options)),
    refuses("pack", async (subject, step, options) =>
      subject.deliver(step, await makePack(step, { values: { a: "1" } }), options),
    ),
  ];
}

/** Another character in the middle, where no encoding has spare bits. */
function changed(token: string): string {
  const middle = Math.floor(token.length / 2);
  const other = token[middle] === "A" ? "B" : "A";
  return token.slice(0, middle) + other + token.slice(middle + 1);
}

import type { ApiCode } from "../../../contract/codes.ts";
import type { Check } from "../check.ts";
import { expectRefusal } from "../expectations.ts";
import type { FreshStep } from "../fixture.ts";
import { makePack, type PackSpec } from "../make-pack.ts";

/** A check that a pack is refused; `sentOf` makes its body, or what a pack is made from. */
export function refusesPack(
  clause: Check["clause"],
  what: string,
  sentOf: (step: FreshStep) => PackSpec | Promise<Buffer>,
  codes: readonly ApiCode[] = ["invalid_pack"],
): Check {
  return {
    clause,
    title: `refuses ${what}`,
    run: async (subject) => {
      const step = await subject.stamp();
      const sent = await sentOf(step);
      const body = Buffer.isBuffer(sent) ? sent : await makePack(step, sent);
      expectRefusal(await subject.deliver(step, body), ...codes);
    },
  };
}

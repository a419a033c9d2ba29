import { valuesFolder } from "../../../contract/pack.ts";
import type { Check } from "../check.ts";
import { endBlocks, makePack } from "../make-pack.ts";
import { oddTars } from "../odd-tars.ts";
import { refusesPack } from "./refuses-pack.ts";

const odd = (step: string): ReturnType<typeof oddTars> => oddTars(`${valuesFolder}${step}.odd`);

/** A pack that is right but for its tar, which lenient readers would take (API page, The tar format). */
export const tarChecks: readonly Check[] = odd("").map(({ what }, index) =>
  refusesPack("API-tar", `a tar with ${what}`, async (step) => {
    const { parts, size } = odd(step.step)[index] ?? { parts: [], size: 0 };
    const variables = [{ key: `${step.step}.odd`, size }];
    const whole = await makePack(step, { manifest: { variables }, entries: [] });
    return Buffer.concat([whole.subarray(0, -endBlocks.length), ...parts]);
  }),
);

import type { ApiCode } from "../../../contract/codes.ts";
import { maxPackBytes } from "../../../contract/limits.ts";
import type { Check } from "../check.ts";
import { expectRefusal } from "../expectations.ts";
import { makePack } from "../make-pack.ts";
import type { CallOptions } from "../subject.ts";
import { refusesPack } from "./refuses-pack.ts";

const otherDigest = `sha-256=:${"A".repeat(43)}=:`;
const otherAlgorithm = `sha-512=:${"A".repeat(86)}==:`;

/** What the sidecar says of a body before it sends it (API page, Deliver a pack). */
export const headerChecks: readonly Check[] = [
  refusesCall("without Content-Length", ["length_required"], { chunked: true }),
  refusesCall("without Content-Digest", ["invalid_request"], {
    headers: { "content-digest": null },
  }),
  refusesCall("with a digest of another algorithm alone", ["invalid_request"], {
    headers: { "content-digest": otherAlgorithm },
  }),
  refusesCall("that does not match its Content-Digest", ["digest_mismatch"], {
    headers: { "content-digest": otherDigest },
  }),
  refusesCall("of another media type", ["invalid_request"], {
    headers: { "content-type": "application/octet-stream" },
  }),
  refusesPack("API-pack", "a body without a byte", async () => Buffer.alloc(0)),
  refusesPack("API-pack", "a body that is no tar", async () => Buffer.alloc(2048, "x")),
  refusesPack(
    "WV-5",
    "a body longer than any pack under the limits",
    async ({ limits }) => Buffer.alloc(maxPackBytes(limits) + 1),
    ["too_large"],
  ),
];

function refusesCall(what: string, codes: readonly ApiCode[], options: CallOptions): Check {
  return {
    clause: "API-pack",
    title: `refuses a pack ${what}`,
    run: async (subject) => {
      const step = await subject.stamp();
      const body = await makePack(step, { values: { a: "1" } });
      expectRefusal(await subject.deliver(step, body, options), ...codes);
    },
  };
}

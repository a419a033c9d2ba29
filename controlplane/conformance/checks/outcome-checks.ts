import { completions, packCodes, type CauseCode } from "../../../contract/codes.ts";
import { Mismatch, Skipped, type Check } from "../check.ts";
import { expectEqual, expectReceipt } from "../expectations.ts";
import { goodMarker, makePack } from "../make-pack.ts";

/** What a pack makes of its step, as the receipt says it (WV-5, WV-6, WV-7, WV-10). */
export const outcomeChecks: readonly Check[] = [
  {
    clause: "WV-6",
    title: "ends a step as succeeded where the marker says so",
    run: async (subject) => {
      const step = await subject.stamp();
      const { status, cause } = expectReceipt(
        await subject.deliver(step, await makePack(step)),
        201,
      );
      // A project may make a missing output a failure; nothing else may fail this step.
      if (step.outputs !== undefined && cause?.code === "variables_missing_output") return;
      expectEqual("status and cause", [status, cause?.code ?? null], ["succeeded", null]);
    },
  },
  failsWith("WV-6", "agent_failed", {
    completion: { by: "marker", marker: { ...goodMarker, outcome: "failed", exit_code: 3 } },
  }),
  failsWith("WV-6", "agent_terminated", {
    completion: { by: "marker", marker: { ...goodMarker, outcome: "terminated" } },
  }),
  failsWith("WV-6", "marker_invalid", {
    completion: { by: "marker", marker: null },
  }),
  ...completions.flatMap((by) =>
    by === "marker" ? [] : [failsWith("WV-7", by, { completion: { by, marker: null } })],
  ),
  ...packCodes.map((code) =>
    failsWith("WV-5", code, { rejected: [{ code, path: ".", limit: 1 }] }),
  ),
  {
    clause: "WV-10",
    title: "accepts a pack without its declared outputs, and warns of each that is required",
    run: async (subject) => {
      const step = await subject.stamp();
      const required = step.outputs?.filter((output) => output.required) ?? [];
      if (required.length === 0) {
        throw new Skipped("the fixture does not give `outputs` with a required one");
      }
      const body = await makePack(step);
      const { warnings } = expectReceipt(await subject.deliver(step, body), 201);
      if (warnings.length !== required.length) {
        throw new Mismatch(`${String(required.length)} warnings`, String(warnings.length));
      }
    },
  },
];

/** A pack without values whose manifest says why. */
function failsWith(clause: Check["clause"], code: CauseCode, manifest: object): Check {
  return {
    clause,
    title: `fails a step with the cause ${code}`,
    run: async (subject) => {
      const step = await subject.stamp();
      const answer = await subject.deliver(step, await makePack(step, { manifest }));
      const { status, cause } = expectReceipt(answer, 201);
      expectEqual("status and cause", [status, cause?.code ?? null], ["failed", code]);
    },
  };
}

import { describe, expect, it } from "vitest";
import {
  causeCodes,
  completions,
  warningCodes,
  type CauseCode,
  type Completion,
} from "../../contract/codes.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { goodMarker, makePack, putPack, type PackSpec } from "../support/packs.ts";

/**
 * What a sidecar sends for each cause; real processes bring about the completions in
 * test/e2e/completions.test.ts.
 */
const packs: Record<Exclude<CauseCode, "undelivered">, Partial<PackSpec>> = {
  agent_failed: { marker: { ...goodMarker, outcome: "failed", exit_code: 1 } },
  agent_terminated: { marker: { ...goodMarker, outcome: "terminated", exit_code: 143 } },
  marker_invalid: { marker: null },
  lost: ended("lost"),
  interrupted: ended("interrupted"),
  deadline: ended("deadline"),
  never_started: ended("never_started"),
  step_entries_exceeded: rejected("step_entries_exceeded"),
  step_files_exceeded: rejected("step_files_exceeded"),
  step_bytes_exceeded: rejected("step_bytes_exceeded"),
  variables_missing_output: {},
};

function ended(by: Completion): Partial<PackSpec> {
  return { manifest: { completion: { by, marker: null } } };
}

function rejected(code: string): Partial<PackSpec> {
  return { manifest: { rejected: [{ code, path: ".", limit: 1 }] } };
}

describe("every cause of a step's failure is recorded (WV-7, WV-10)", () => {
  it.each(causeCodes.filter((code) => code !== "undelivered"))("%s", async (code) => {
    const cp = await startControlPlane();
    const run = await cp.createRun({ template: "t", missing_output: "fail" });
    const { token } = await cp.stamp(run, { step: "judge", outputs: [{ key: "verdict" }] });
    await putPack(
      cp.stepUrl,
      run,
      "judge",
      await makePack({ run, step: "judge", ...packs[code] }),
      { token },
    );
    const { json } = await cp.operate("GET", `/v1/runs/${run}/steps`);
    expect(json["steps"]).toMatchObject([{ status: "failed", cause: { code } }]);
  });

  it("covers every completion but the good one", () => {
    expect(causeCodes).toEqual(expect.arrayContaining(completions.filter((by) => by !== "marker")));
    expect(causeCodes).toEqual(expect.arrayContaining([...warningCodes]));
  });
});

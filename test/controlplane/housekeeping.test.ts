import { describe, expect, it } from "vitest";
import type { StampedStep, StepView } from "../../contract/wire.ts";
import { makePack, putPack } from "../support/packs.ts";
import { serveControlPlane, type ServedControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

async function serveWithRun(env: Readonly<Record<string, string>>) {
  const cp = await serveControlPlane(tempFolder(), 0, env);
  await cp.call("POST", "/v1/runs", { run: "kept", template: "t" });
  const stamp = async (step: string, lastsMs: number) => {
    const deadline = new Date(Date.now() + lastsMs).toISOString();
    const stamped = await cp.call("POST", "/v1/runs/kept/steps", { step, deadline });
    return ((await stamped.json()) as StampedStep).token;
  };
  return { cp, stamp };
}

async function listSteps(cp: ServedControlPlane): Promise<StepView[]> {
  const response = await cp.call("GET", "/v1/runs/kept/steps");
  return ((await response.json()) as { steps: StepView[] }).steps;
}

async function metric({ operatorUrl }: ServedControlPlane, name: string): Promise<number> {
  const text = await (await fetch(`${operatorUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
}

describe("a step's lease", () => {
  it("ends a step that has not delivered by its deadline and the grace, and its token with it", async () => {
    const { cp, stamp } = await serveWithRun({ WFVAR_TOKEN_GRACE: "1s" });
    const late = await stamp("late", 500);
    const claimed = await stamp("claimed", 500);
    const done = await stamp("done", 500);
    await stamp("open", 3_600_000);
    await fetch(`${cp.stepUrl}/v1/runs/kept/steps/claimed/variables?attempt=1`, {
      headers: { authorization: `Bearer ${claimed}`, "wfvar-instance": "pod-1" },
    });
    const delivered = await makePack({ run: "kept", step: "done" });
    expect((await putPack(cp.stepUrl, "kept", "done", delivered, { token: done })).status).toBe(
      201,
    );
    await expect.poll(() => metric(cp, "wfvar_undelivered_steps_total")).toBe(2);
    expect(
      (await listSteps(cp)).map(({ step, status, cause }) => [step, status, cause?.code]),
    ).toEqual([
      ["late", "failed", "undelivered"],
      ["claimed", "failed", "undelivered"],
      ["done", "succeeded", undefined],
      ["open", "stamped", undefined],
    ]);
    const answer = await putPack(
      cp.stepUrl,
      "kept",
      "late",
      await makePack({ run: "kept", step: "late" }),
      { token: late },
    );
    expect([answer.status, answer.json["code"]]).toEqual([401, "unauthorized"]);
  });
});

describe("WFVAR_KEEP", () => {
  it("removes runs in which nothing happens, and none that waits for a step", async () => {
    const { cp, stamp } = await serveWithRun({ WFVAR_KEEP: "1s" });
    await stamp("open", 3_600_000);
    await cp.call("POST", "/v1/runs", { run: "old", template: "t" });
    await expect.poll(() => metric(cp, "wfvar_removed_runs_total")).toBe(1);
    const statuses = ["old", "kept"].map(async (run) => {
      return (await cp.call("GET", `/v1/runs/${run}`)).status;
    });
    expect(await Promise.all(statuses)).toEqual([404, 200]);
  });
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { podman } from "./engine.ts";
import { buildImages, imageOf } from "./images.ts";
import { Pod } from "./pod.ts";
import { serveImage, type ServedImage } from "./served-image.ts";
import { matrixRow, uidMatrix } from "./uid-matrix.ts";

let cp: ServedImage;

beforeAll(async () => {
  await buildImages();
  cp = await serveImage();
});

afterAll(async () => {
  await cp[Symbol.asyncDispose]();
});

describe("a value in a folder of the agent's own making (WV-15, WV-16)", () => {
  it.each(uidMatrix.map((row) => [matrixRow(row), row] as const))("%s", async (_, row) => {
    const { umask, end, delivered, ...pods } = row;
    const run = await cp.createRun();
    const stamped = await cp.stamp(run, "judge");
    const agentImage = imageOf["agent-node"];
    const pod = new Pod({ stamped, cpUrl: cp.stepUrl, agentImage, ...pods });
    await pod.start();
    const write = `umask ${umask}; cd $WORKFLOW_VARIABLES_SELF; mkdir findings; printf x > findings/HIGH`;
    if (end === "finalized") {
      expect((await pod.runAgent(write)).code).toBe(0);
    } else {
      await pod.startAgent(`${write}; touch .written; sleep 600`);
      await expect.poll(() => existsSync(join(pod.ownFolder, ".written"))).toBe(true);
      await podman("kill", "--signal", "KILL", pod.agentName);
      // The sidecar is to see for itself that the agent is gone.
      await expect.poll(async () => (await cp.step(run, "judge"))["ended_at"]).toBeTruthy();
    }
    const { code, log } = await pod.endSidecar();
    expect(code).toBe(0);
    const summary = log.find(({ event }) => event === "delivered");
    expect(summary).toMatchObject({
      completion: end === "finalized" ? "marker" : "lost",
      accepted: delivered ? 1 : 0,
      rejected: delivered ? [] : [{ code: "unreadable" }],
    });
    expect(await cp.keys(run, "judge.")).toEqual(delivered ? ["judge.findings.high"] : []);
  });

  it("is the table in docs/images.md", () => {
    const rows = readFileSync("docs/images.md", "utf8")
      .split("\n")
      .map((line) => line.replaceAll(/ +/g, " "));
    const table = uidMatrix.map(matrixRow);
    expect(rows.filter((row) => /^\| (the same|two) \|/.test(row))).toEqual(table);
  });
});

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { podman, run } from "./engine.ts";
import { baseImages, buildImages, imageOf } from "./images.ts";
import { Pod } from "./pod.ts";
import { serveImage, type ServedImage } from "./served-image.ts";

let cp: ServedImage;

beforeAll(async () => {
  await buildImages();
  cp = await serveImage();
});

afterAll(async () => {
  await cp[Symbol.asyncDispose]();
});

async function startPod(
  sidecarEnv: Readonly<Record<string, string>> = {},
): Promise<{ pod: Pod; runId: string }> {
  const runId = await cp.createRun();
  const stamped = await cp.stamp(runId, "judge");
  const agentImage = imageOf["agent-node"];
  const pod = new Pod({ stamped, cpUrl: cp.stepUrl, agentImage, sidecarEnv });
  await pod.start();
  return { pod, runId };
}

/** An agent that has left a value and goes on. */
const busy = "wfvar set -q verdict approve; touch $WORKFLOW_VARIABLES_SELF/.written; sleep 600";

async function untilWritten(pod: Pod): Promise<void> {
  await expect.poll(() => existsSync(join(pod.ownFolder, ".written"))).toBe(true);
}

describe("an agent's container that ends in another way than by itself (WV-7)", () => {
  it("is lost when every process of it is killed, and what it left is delivered", async () => {
    const { pod, runId } = await startPod();
    await pod.startAgent(busy);
    await untilWritten(pod);
    await podman("kill", "--signal", "KILL", pod.agentName);
    await expect.poll(async () => (await cp.step(runId, "judge"))["ended_at"]).toBeTruthy();
    expect(await cp.step(runId, "judge")).toMatchObject({
      status: "failed",
      cause: { code: "lost" },
    });
    expect(await cp.keys(runId, "judge.")).toEqual(["judge.verdict"]);
    const { code, log } = await pod.endSidecar();
    expect(code).toBe(0);
    expect(log.find(({ event }) => event === "ended")).toMatchObject({ completion: "lost" });
  });

  it("fails with 137 when its memory runs out, and what it left is delivered", async ({ skip }) => {
    const limit = ["--memory", "128m", "--memory-swap", "128m"];
    const probe = ["run", "--rm", "--network", "none", ...limit, baseImages.bare, "true"];
    const { code: unlimited } = await run("podman", ...probe);
    skip(unlimited !== 0, "this machine cannot limit a container's memory");
    const { pod, runId } = await startPod();
    const { code } = await pod.runAgent(
      "wfvar set -q verdict approve; exec tail /dev/zero",
      ...limit,
    );
    expect(code).toBe(137);
    expect((await pod.endSidecar()).code).toBe(0);
    expect(await cp.step(runId, "judge")).toMatchObject({
      status: "failed",
      cause: { code: "agent_failed" },
    });
    expect(await cp.keys(runId, "judge.")).toEqual(["judge.verdict"]);
  });

  it("is terminated by podman stop, finalizes, and what it left is delivered", async () => {
    const { pod, runId } = await startPod();
    await pod.startAgent(busy);
    await untilWritten(pod);
    await podman("stop", "--time", "20", pod.agentName);
    expect(await podman("inspect", "--format", "{{.State.ExitCode}}", pod.agentName)).toBe("143");
    expect((await pod.endSidecar()).code).toBe(0);
    expect(await cp.step(runId, "judge")).toMatchObject({
      status: "failed",
      cause: { code: "agent_terminated" },
    });
    expect(await cp.keys(runId, "judge.")).toEqual(["judge.verdict"]);
  });

  it("is terminated when its pod is stopped as a whole, and what it left is delivered", async () => {
    const { pod, runId } = await startPod();
    await pod.startAgent(busy);
    await untilWritten(pod);
    const stop = podman("stop", "--time", "20", pod.agentName);
    const [{ code }] = await Promise.all([pod.endSidecar(), stop]);
    expect(code).toBe(0);
    expect(await cp.step(runId, "judge")).toMatchObject({ cause: { code: "agent_terminated" } });
    expect(await cp.keys(runId, "judge.")).toEqual(["judge.verdict"]);
  });

  it("is interrupted when its pod is stopped and it does not end, and what it left is delivered", async () => {
    const grace = { WFVAR_POD_GRACE: "5s", WFVAR_DELIVERY_RESERVE: "4s" };
    const { pod, runId } = await startPod(grace);
    await pod.startAgent(`trap '' TERM; ${busy}`);
    await untilWritten(pod);
    await podman("kill", "--signal", "TERM", pod.agentName);
    const { code, log } = await pod.endSidecar();
    expect(code).toBe(0);
    expect(log.find(({ event }) => event === "ended")).toMatchObject({ completion: "interrupted" });
    expect(await cp.keys(runId, "judge.")).toEqual(["judge.verdict"]);
  });
});

describe("orphans of an agent (WV-15)", () => {
  const orphans = `
for i in $(seq 100); do (true &); done
sleep 1
cat /proc/[0-9]*/status 2>/dev/null | grep -c '^State:.Z' > /tmp/zombies
wfvar set -q zombies --file /tmp/zombies
`;

  it("are reaped by tini", async () => {
    const { pod, runId } = await startPod();
    expect((await pod.runAgent(orphans)).code).toBe(0);
    expect((await pod.endSidecar()).code).toBe(0);
    expect((await cp.value(runId, "judge.zombies")).toString()).toBe("0\n");
  });

  it("stay as zombies where the entrypoint itself is PID 1; the step is delivered all the same", async () => {
    const { pod, runId } = await startPod();
    const entrypoint = JSON.stringify(["/opt/agent/bin/entrypoint", "--"]);
    expect((await pod.runAgent(orphans, "--entrypoint", entrypoint)).code).toBe(0);
    expect((await pod.endSidecar()).code).toBe(0);
    expect((await cp.value(runId, "judge.zombies")).toString()).toBe("100\n");
  });
});

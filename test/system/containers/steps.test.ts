import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempFolder } from "../../support/temp-folder.ts";
import { run } from "./engine.ts";
import { baseImages, buildAgent, buildImages, imageOf } from "./images.ts";
import { Pod } from "./pod.ts";
import { serveImage, type ServedImage } from "./served-image.ts";
import { makeVolume } from "./volume.ts";

/** Every byte that is hard to carry: NUL, CRLF, no newline at the end, more than one byte a letter. */
const bytes = "a\0b\r\n\n\u{1F980} ü \\! no newline";

const bareAgent = "localhost/agent-bare";
let cp: ServedImage;

beforeAll(async () => {
  await buildImages();
  await buildAgent(kitLines(imageOf["agent-kit-runtime"]), baseImages.bare, bareAgent);
  cp = await serveImage();
});

afterAll(async () => {
  await cp[Symbol.asyncDispose]();
});

function kitLines(kit: string): string {
  return `FROM replaced
COPY --from=${kit} / /
ENTRYPOINT ["/opt/agent/bin/tini", "--", "/opt/agent/bin/entrypoint", "--"]
`;
}

describe("a workflow of three steps, each in another kind of image", () => {
  it.each([
    ["one uid", 1000, 1000],
    ["two uids", 1000, 65_532],
  ])("carries a value from step to step, byte for byte, as %s", async (_, agentUid, sidecarUid) => {
    const runId = await cp.createRun({ bytes });
    const copy = (from: string): string =>
      `wfvar get ${from} > /tmp/value && wfvar set copy --file /tmp/value`;
    const steps = [
      ["inspect", imageOf["agent-node"], [], copy("workflow.inputs.bytes")],
      ["judge", imageOf["agent-python"], ["inspect"], copy("inspect.copy")],
      ["report", bareAgent, ["judge"], copy("judge.copy")],
    ] as const;
    for (const [step, agentImage, dependsOn, script] of steps) {
      const stamped = await cp.stamp(runId, step, [...dependsOn]);
      const pod = new Pod({ stamped, cpUrl: cp.stepUrl, agentImage, agentUid, sidecarUid });
      await pod.start();
      expect(await pod.runAgent(script)).toMatchObject({ code: 0, stdout: "" });
      const { code, lastWord } = await pod.endSidecar();
      expect(code).toBe(0);
      expect(JSON.parse(lastWord)).toMatchObject({ state: "delivered" });
      expect(await cp.step(runId, step)).toMatchObject({ status: "succeeded", cause: null });
      expect((await cp.value(runId, `${step}.copy`)).toString()).toBe(bytes);
    }
  });
});

const sameStep = `
set -e
wfvar get workflow.inputs.bytes | wfvar set copy --stdin
wfvar set findings.high 'two words'
wfvar list
wfvar check
`;

describe("the same step", () => {
  it.each([
    ["Node", () => imageOf["agent-node"]],
    ["Python and the runtime kit", () => imageOf["agent-python"]],
    ["neither, nor any C library, and the runtime kit", () => bareAgent],
  ])("passes in an image with %s", async (_, image) => {
    const runId = await cp.createRun({ bytes });
    const stamped = await cp.stamp(runId, "judge");
    const pod = new Pod({ stamped, cpUrl: cp.stepUrl, agentImage: image() });
    await pod.start();
    const { code, stdout } = await pod.runAgent(sameStep);
    expect([code, stdout.split("\n").slice(0, 2)]).toEqual([0, ["copy", "findings.high"]]);
    expect((await pod.endSidecar()).code).toBe(0);
    expect(await cp.keys(runId, "judge.")).toEqual(["judge.copy", "judge.findings.high"]);
    expect((await cp.value(runId, "judge.copy")).toString()).toBe(bytes);
  });

  it("passes in an image without the kit, from the volume that prefill filled", async () => {
    const runId = await cp.createRun({ bytes });
    const stamped = await cp.stamp(runId, "judge");
    const agentImage = baseImages.node;
    const pod = new Pod({ stamped, cpUrl: cp.stepUrl, agentImage, kitVolume: true });
    await pod.start();
    const script = sameStep.replaceAll("wfvar ", "/opt/agent/bin/wfvar ");
    expect((await pod.runAgent(script)).code).toBe(0);
    expect((await pod.endSidecar()).code).toBe(0);
    expect((await cp.value(runId, "judge.copy")).toString()).toBe(bytes);
  });
});

describe("the kit's private Node", () => {
  it("runs without the image's LD_PRELOAD, which the agent has", async () => {
    const stamped = await cp.stamp(await cp.createRun(), "judge");
    const pod = new Pod({ stamped, cpUrl: cp.stepUrl, agentImage: bareAgent });
    await pod.start();
    const script = "echo $LD_PRELOAD; tr '\\0' '\\n' < /proc/$PPID/environ | grep -c ^LD_PRELOAD";
    const { stdout } = await pod.runAgent(script, "--env", "LD_PRELOAD=/none.so");
    expect(stdout).toBe("/none.so\n0\n");
    expect((await pod.endSidecar()).code).toBe(0);
  });
});

describe("hooks in finalize.d", () => {
  it("run after the agent and may write values", async () => {
    const runId = await cp.createRun();
    const stamped = await cp.stamp(runId, "judge");
    const pod = new Pod({ stamped, cpUrl: cp.stepUrl, agentImage: imageOf["agent-node"] });
    const hooks = tempFolder();
    chmodSync(hooks, 0o755);
    const hook = '#!/bin/sh\nwfvar set -q pushed "after exit $WFVAR_EXIT_CODE"\n';
    writeFileSync(join(hooks, "10-push"), hook, { mode: 0o755 });
    await pod.start();
    const mount = ["--volume", `${hooks}:/opt/agent/finalize.d:ro`];
    expect((await pod.runAgent("exit 3", ...mount)).code).toBe(3);
    expect((await pod.endSidecar()).code).toBe(0);
    expect((await cp.value(runId, "judge.pushed")).toString()).toBe("after exit 3");
  });
});

describe("an agent in Python", () => {
  const script = `from variables import keys, load, save; save("copy", load("workflow.inputs.bytes")); print(keys())`;

  it("imports the helper from the kit", async () => {
    const runId = await cp.createRun({ bytes });
    const stamped = await cp.stamp(runId, "judge");
    const agentImage = imageOf["agent-python"];
    const pod = new Pod({ stamped, cpUrl: cp.stepUrl, agentImage });
    await pod.start();
    const ran = await pod.runAgent(`python3 -c '${script}'`);
    expect(ran).toMatchObject({ code: 0, stdout: "['copy']\n" });
    expect((await pod.endSidecar()).code).toBe(0);
    expect((await cp.value(runId, "judge.copy")).toString()).toBe(bytes);
  });

  it("has wfvar and the helper also where there is no Node, and the entrypoint says so", async () => {
    const image = "localhost/agent-python-alone";
    await buildAgent(kitLines(imageOf["agent-kit"]), baseImages.python, image);
    const inImage = ["run", "--rm", "--network", "none", "--env", "PYTHONPATH=/opt/agent"];
    const volume = makeVolume();
    mkdirSync(join(volume, "judge"), { mode: 0o777 });
    const withVolume = ["--volume", `${volume}:/variables`];
    const self = ["--env", "WORKFLOW_VARIABLES_SELF=/variables/judge"];
    const both = `wfvar set -q verdict approve; python3 -c 'from variables import load; print(load("verdict"))'`;
    const shell = ["--entrypoint", "sh", image, "-c", both];
    expect(await run("podman", ...inImage, ...withVolume, ...self, ...shell)).toMatchObject({
      code: 0,
      stdout: "approve\n",
    });
    expect(await run("podman", ...inImage, image, "true")).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(
        /^entrypoint: no_runtime: neither runtime\/node in the kit nor node on PATH: .*\n$/,
      ),
    });
  });
});

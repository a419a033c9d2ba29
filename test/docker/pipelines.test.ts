import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startControlPlane } from "../support/control-plane.ts";
import { exitOf, Kubelet, type PodContainer } from "../support/kubelet.ts";
import {
  allContainers,
  fillIn,
  manifestFolder,
  podSpecsIn,
  resourcesIn,
  type Container,
  type PodSpec,
} from "./manifests.ts";

const script =
  "/opt/agent/bin/wfvar get workflow.inputs.repo | /opt/agent/bin/wfvar set verdict --stdin";

/** The example's containers, with the arguments of a real step, and an agent that does something. */
async function startStep(file: string) {
  const cp = await startControlPlane();
  const run = await cp.createRun({ template: "t", inputs: { repo: "a repository" } });
  const { token, deadline } = await cp.stamp(run, { step: "judge" });
  const parameters = { run, step: "judge", attempt: "1", deadline, "token-secret": "unused" };
  const [written] = podSpecsIn(resourcesIn(join(manifestFolder, file)));
  const text = fillIn(JSON.stringify(written), parameters).replaceAll(
    /http:\/\/wfvar-step\.wfvar\.svc:\d+/g,
    cp.stepUrl,
  );
  const pod = JSON.parse(text) as PodSpec;
  const kubelet = new Kubelet(token);
  const all = allContainers(pod);
  const start = (name: string, args?: readonly string[]): ChildProcess => {
    const container = all.find((one) => one.name === name);
    if (container === undefined) throw new Error(`${file} has no container ${name}`);
    return kubelet.start({ ...asPodContainer(container), ...(args === undefined ? {} : { args }) });
  };
  return {
    // Into the volume that stands for the agent's image here.
    prefill: () => exitOf(start("wfvar-prefill", ["prefill", "--install-kit", "/kit"])),
    startSidecar: () => start("wfvar-sidecar"),
    agent: (name: string) => exitOf(start(name, ["sh", "-c", script])),
    outcome: async () => {
      const [values, steps] = await Promise.all([
        cp.operate("GET", `/v1/runs/${run}/variables?prefix=judge.`),
        cp.operate("GET", `/v1/runs/${run}/steps`),
      ]);
      return { ...values.json, ...steps.json };
    },
  };
}

function asPodContainer(container: Container): PodContainer {
  return { ...container, env: container.env ?? [] };
}

async function stop(sidecar: ChildProcess): Promise<unknown> {
  sidecar.kill("SIGTERM");
  return exitOf(sidecar);
}

const delivered = {
  variables: [{ key: "judge.verdict", size: 12, set_by: "judge" }],
  steps: [{ step: "judge", status: "succeeded" }],
};

it("Argo's containers carry a value: prefill, then sidecar and agent, then the sidecar's end", async () => {
  const step = await startStep("argo-workflow.yaml");
  expect(await step.prefill()).toBe(0);
  const sidecar = step.startSidecar();
  expect(await step.agent("main")).toBe(0);
  expect(await stop(sidecar)).toBe(0);
  expect(await step.outcome()).toMatchObject(delivered);
});

it("Tekton's containers carry a value: the sidecar before any step, its end after the last", async () => {
  const step = await startStep("tekton-task.yaml");
  const sidecar = step.startSidecar();
  expect(await step.prefill()).toBe(0);
  expect(await step.agent("agent")).toBe(0);
  expect(await stop(sidecar)).toBe(0);
  expect(await step.outcome()).toMatchObject(delivered);
});

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { runInject } from "../../sidecar/inject/run-inject.ts";
import { startControlPlane } from "../../support/control-plane.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { baseImages, buildImages, imageOf } from "./images.ts";
import { runPod, type PodSpec } from "./podman-kubelet.ts";

interface Job {
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}

/** 0600 as `mktemp` makes files, and what an input holds. */
const script = `
umask 077
wfvar get workflow.inputs.repo | wfvar set verdict --stdin
printf closed > "$WORKFLOW_VARIABLES_SELF/PRIVATE"
`;

beforeAll(buildImages);

/** The example job with another pod, an agent that does something, and that pod as inject made it. */
async function injected(
  change: (pod: Record<string, unknown>) => void,
  flags: readonly string[],
): Promise<PodSpec> {
  const job = parse(readFileSync("docker/kubernetes/job.yaml", "utf8")) as Job;
  const pod = job.spec.template.spec as unknown as Record<string, unknown>;
  const [agent] = pod["containers"] as Record<string, unknown>[];
  Object.assign(agent ?? {}, { command: ["sh", "-c"], args: [script] });
  change(pod);
  const { stdout, said } = await runInject(stringify(job), flags);
  expect(said.filter((line) => !line.includes("warning"))).toEqual([]);
  return (parse(stdout) as Job).spec.template.spec;
}

describe("a pod run in containers from the fields that inject wrote", () => {
  it.each<{
    name: string;
    flags: readonly string[];
    kit?: "volume";
    change?: (pod: Record<string, unknown>) => void;
    containers: readonly string[];
  }>([
    {
      name: "with a native sidecar",
      flags: ["--native"],
      containers: ["agent", "wfvar-prefill", "wfvar-sidecar"],
    },
    {
      name: "with a plain sidecar",
      flags: ["--plain"],
      containers: ["agent", "wfvar-prefill", "wfvar-sidecar"],
    },
    {
      name: "with the kit from a volume, and a group for all volumes",
      flags: ["--native", "--kit", "volume"],
      kit: "volume",
      change: (pod) => {
        Object.assign(pod["securityContext"] as object, { fsGroup: 3000 });
      },
      containers: ["agent", "wfvar-prefill", "wfvar-sidecar"],
    },
    {
      name: "beside a container and an init container of its own",
      flags: ["--native", "--container", "agent"],
      change: (pod) => {
        const containers = pod["containers"] as object[];
        const other = { ...containers[0], command: ["true"], args: [] };
        Object.assign(pod, {
          containers: [...containers, { ...other, name: "beside" }],
          initContainers: [{ ...other, name: "first" }],
        });
      },
      containers: ["agent", "beside", "first", "wfvar-prefill", "wfvar-sidecar"],
    },
  ])("$name carries its values to the control plane", async (row) => {
    const cp = await startControlPlane();
    const run = await cp.createRun({ template: "t", inputs: { repo: "a repository" } });
    const stamped = await cp.stamp(run, { step: "judge" });
    const stamp = join(tempFolder(), "stamp.json");
    writeFileSync(stamp, JSON.stringify(stamped));
    const flags = ["--stamp", stamp, "--cp-url", cp.stepUrl, ...row.flags];
    const pod = await injected(row.change ?? (() => undefined), flags);
    const agentImage = row.kit === "volume" ? baseImages.node : imageOf["agent-node"];
    const codes = await runPod(pod, {
      token: stamped.token,
      imageOf: (image) => (image.includes("wfvar-sidecar") ? imageOf.sidecar : agentImage),
    });
    expect(codes).toEqual(Object.fromEntries(row.containers.map((name) => [name, 0])));
    const { json } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=judge.`);
    expect(json).toMatchObject({
      variables: [
        { key: "judge.private", size: 6 },
        { key: "judge.verdict", size: 12 },
      ],
    });
    expect((await cp.operate("GET", `/v1/runs/${run}/steps`)).json).toMatchObject({
      steps: [{ step: "judge", status: "succeeded", cause: null }],
    });
  });
});

import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { runInject } from "../sidecar/inject/run-inject.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { exitOf, Kubelet, type PodContainer } from "../support/kubelet.ts";
import { tempFolder } from "../support/temp-folder.ts";

const manifest = `
apiVersion: v1
kind: Pod
metadata: { name: judge }
spec:
  securityContext: { runAsUser: 1000 }
  containers:
    - name: agent
      image: node:24
      command: [sh, -c]
      args: ['/opt/agent/bin/wfvar get workflow.inputs.repo | /opt/agent/bin/wfvar set verdict --stdin']
`;

it.each(["--native", "--plain"])(
  "a pod that inject %s wrote carries its value to the control plane",
  async (sidecarKind) => {
    const cp = await startControlPlane();
    const run = await cp.createRun({ template: "t", inputs: { repo: "a repository" } });
    const stamped = await cp.stamp(run, { step: "judge" });
    const stamp = join(tempFolder(), "stamp.json");
    writeFileSync(stamp, JSON.stringify(stamped));

    const flags = ["--stamp", stamp, "--cp-url", cp.stepUrl, "--kit", "volume", sidecarKind];
    const { stdout, said } = await runInject(manifest, flags);
    expect(said).toEqual([]);
    const { spec } = parse(stdout) as {
      spec: Record<"initContainers" | "containers", readonly PodContainer[]>;
    };

    const kubelet = new Kubelet(stamped.token);
    const sidecars: ChildProcess[] = [];
    for (const container of spec.initContainers) {
      const child = kubelet.start(container);
      if (container.restartPolicy === "Always") sidecars.push(child);
      else expect(await exitOf(child)).toBe(0);
    }
    const main = spec.containers.map((container) => kubelet.start(container));
    expect(await Promise.all(main.map(exitOf))).toEqual(main.map(() => 0));
    for (const sidecar of sidecars) sidecar.kill("SIGTERM");
    expect(await Promise.all(sidecars.map(exitOf))).toEqual(sidecars.map(() => 0));

    const { json } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=judge.`);
    expect(json).toMatchObject({
      variables: [{ key: "judge.verdict", size: 12, set_by: "judge" }],
    });
    expect((await cp.operate("GET", `/v1/runs/${run}/steps`)).json).toMatchObject({
      steps: [{ step: "judge", status: "succeeded" }],
    });
  },
);

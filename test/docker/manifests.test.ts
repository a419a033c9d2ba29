import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { version } from "../../contract/version.ts";
import { parseConfig } from "../../sidecar/config.ts";
import { schemaErrors, typeErrors } from "./kubernetes-types.ts";
import {
  allContainers,
  envOf,
  parseResources,
  podSpecsIn,
  resourcesIn,
  yamlFiles,
  type Resource,
} from "./manifests.ts";
import { unknownSettings } from "./setting-names.ts";

/** Of kustomize and Tekton, which have no types here. What a Task has of a pod is looked at as a Pod. */
const otherKinds = new Set(["Component", "Task", "TaskRun"]);
const patch = "component/agent-command.yaml";
const files = yamlFiles().filter((file) => !file.endsWith(patch));
function resourcesOf(file: string): Resource[] {
  const all = resourcesIn(file);
  const tasks = podSpecsIn(all.filter(({ kind }) => kind === "Task"));
  return [
    ...all.filter(({ kind }) => !otherKinds.has(kind)),
    ...tasks.map((spec) => ({ apiVersion: "v1", kind: "Pod", metadata: {}, spec })),
  ];
}

/** A strategic merge patch is no whole resource. */
const whole = files.filter((file) => !file.endsWith("component/pod.yaml"));
const pods = whole.flatMap((file) =>
  podSpecsIn(resourcesOf(file)).map((pod, index) => ({
    file,
    name: `${file} ${String(index)}`,
    pod,
  })),
);

describe("every manifest", () => {
  it.each(whole)("%s is what the API's schemas ask for", async (file) => {
    for (const resource of resourcesOf(file)) expect(await schemaErrors(resource)).toEqual([]);
  });

  it("has no field that Kubernetes does not know", () => {
    expect(typeErrors(files.flatMap(resourcesOf))).toEqual([]);
  });

  it("has no secret's value: Secrets are named, and made elsewhere", () => {
    for (const file of yamlFiles()) {
      expect(readFileSync(file, "utf8")).not.toMatch(
        /eyJ|^kind: Secret|postgres:\/\/[^\s/@]*:[^\s/@]*@/m,
      );
    }
  });

  it("names our images by the version that this is", () => {
    const texts = [...yamlFiles(), "docker/compose.yaml"].map((file) => readFileSync(file, "utf8"));
    const named = texts.join().matchAll(/wfvar-(?:sidecar|cp|agent-\w+):([\w.-]+)/g);
    expect([...new Set([...named].map(([, tag]) => tag))]).toEqual([version]);
  });

  it("is judged by schemas and types that notice a wrong type and a wrong name", async () => {
    const [wrongType, wrongName] = parseResources(
      [
        "{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, ports: [{containerPort: web}]}]}}",
        "{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, securityContext: {runAsNoRoot: true}}]}}",
      ].join("\n---\n"),
    );
    if (wrongType === undefined || wrongName === undefined) throw new Error("no resources");
    expect(await schemaErrors(wrongType)).toHaveLength(1);
    expect(await schemaErrors(wrongName)).toEqual([]);
    expect(typeErrors([wrongName]).join("\n")).toContain("runAsNoRoot");
  });
});

describe("every pod", () => {
  it.each(pods)("of $name has no token of the cluster", ({ file, pod }) => {
    const taskRun = resourcesIn(file).find(({ kind }) => kind === "TaskRun")?.spec;
    const { podTemplate = pod } = (taskRun ?? {}) as { podTemplate?: typeof pod };
    expect(podTemplate.automountServiceAccountToken).toBe(false);
  });

  it.each(pods)("of $name keeps the restricted profile", ({ pod }) => {
    for (const { securityContext: own = {} } of allContainers(pod)) {
      const context = { ...pod.securityContext, ...own };
      expect(context).toMatchObject({
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
        seccompProfile: { type: "RuntimeDefault" },
      });
    }
  });

  it.each(pods)("of $name asks for memory and CPU, and bounds no CPU", ({ pod }) => {
    for (const { resources } of allContainers(pod)) {
      expect(resources).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
      });
      expect(resources?.limits ?? {}).not.toHaveProperty("cpu");
    }
  });

  it.each(pods)("of $name shows a token to prefill and sidecar alone", ({ pod }) => {
    const holders = allContainers(pod).filter(({ volumeMounts = [] }) =>
      volumeMounts.some(({ name }) => name === "wfvar-token"),
    );
    const ours = allContainers(pod).filter(({ args = [] }) =>
      /^(prefill|pack)$/.test(args[0] ?? ""),
    );
    expect(holders).toEqual(ours);
  });
});

describe("settings in manifests", () => {
  it.each(yamlFiles())("%s names those that there are", (file) => {
    expect(unknownSettings(readFileSync(file, "utf8"))).toEqual([]);
  });

  const stamped = { run: "demo-1", step: "judge", attempt: "1", deadline: "2030-01-31T12:00:00Z" };
  const containers = pods.flatMap(({ name, pod }) =>
    allContainers(pod)
      .filter(({ image }) => image.includes("/wfvar-sidecar:"))
      .map((container) => ({ name: `${container.name} of ${name}`, container })),
  );

  it.each(containers)("$name are those that the sidecar reads", ({ container }) => {
    const [, ...flags] = container.args ?? [];
    const env = envOf(container, { WFVAR_INSTANCE: "a-pods-uid" }, stamped);
    expect(parseConfig(flags, env)).toMatchObject({ config: { podGraceMs: expect.any(Number) } });
  });

  it("are found in both jobs, in Argo's workflow and in Tekton's task", () => {
    expect(containers).toHaveLength(8);
  });
});

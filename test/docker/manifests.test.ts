import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../sidecar/config.ts";
import { schemaErrors, typeErrors } from "./kubernetes-types.ts";
import {
  allContainers,
  envOf,
  manifestFolder,
  parseResources,
  podSpecsIn,
  resourcesIn,
  yamlFiles,
} from "./manifests.ts";

/** Of kustomize and Tekton, which the Kubernetes schemas do not know. */
const otherKinds = new Set(["Component", "Kustomization", "Task"]);
const patch = "component/agent-command.yaml";
const files = yamlFiles().filter((file) => !file.endsWith(patch));
const resourcesOf = (file: string) => resourcesIn(file).filter(({ kind }) => !otherKinds.has(kind));
/** A strategic merge patch is no whole resource. */
const whole = files.filter((file) => !file.endsWith("component/pod.yaml"));
const pods = whole.flatMap((file) =>
  podSpecsIn(resourcesOf(file)).map((pod, index) => ({ name: `${file} ${String(index)}`, pod })),
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
  it.each(pods)("of $name keeps the restricted profile", ({ pod }) => {
    expect(pod.automountServiceAccountToken).toBe(false);
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
  const containers = pods.flatMap(({ name, pod }) =>
    allContainers(pod)
      .filter(({ image }) => image.includes("/wfvar-sidecar:"))
      .map((container) => ({ name: `${container.name} of ${name}`, container })),
  );

  it.each(containers)("$name are those that the sidecar reads", ({ container }) => {
    const [, ...flags] = container.args ?? [];
    const env = envOf(container, { WFVAR_INSTANCE: "a-pods-uid" });
    expect(parseConfig(flags, env)).toMatchObject({ config: { podGraceMs: expect.any(Number) } });
  });

  it("are found in both jobs", () => {
    const jobs = containers.filter(({ name }) => name.includes(`${manifestFolder}/job-`));
    expect(jobs).toHaveLength(4);
  });
});

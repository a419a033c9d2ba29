import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseConfig } from "../../sidecar/config.ts";
import { runInject } from "../sidecar/inject/run-inject.ts";
import {
  allContainers,
  envOf,
  manifestFolder,
  parseResources,
  podSpecsIn,
  type Container,
  type PodSpec,
  type Resource,
} from "../docker/manifests.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { installKubectl } from "../support/install-kubectl.ts";
import { tempFolder } from "../support/temp-folder.ts";

const job = readFileSync(join(manifestFolder, "job.yaml"), "utf8");
const url = "https://cp.example.com:8411";

/** What a component for Jobs must not touch, alike as it is. */
const bystander = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: agents }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: agent, image: example.com/web:1, command: [web] }] }
`;
const kustomization = `
resources: [job.yaml, web.yaml]
components: [component]
configMapGenerator:
  - name: wfvar-step
    namespace: agents
    envs: [step.env]
    literals: [WFVAR_CP_URL=${url}]
secretGenerator:
  - name: wfvar-token
    namespace: agents
    files: [token]
images:
  - name: wfvar-sidecar
    newName: registry.example.com/wfvar-sidecar
`;

interface Stamp {
  readonly token: string;
  readonly env: Readonly<Record<string, string>>;
}

async function makeStamp(): Promise<Stamp> {
  const cp = await startControlPlane();
  return cp.stamp(await cp.createRun(), { step: "judge" });
}

/** `kubectl kustomize` of a folder in which the component is used as its own comment says. */
function build(stamp: Stamp): Resource[] {
  const folder = tempFolder();
  mkdirSync(join(folder, "component"));
  cpSync(join(manifestFolder, "component"), join(folder, "component"), { recursive: true });
  const ownInit = "initContainers: [{ name: own, image: example.com/own:1 }]";
  const files = {
    "job.yaml": job.replace("      containers:\n", `      ${ownInit}\n      containers:\n`),
    "web.yaml": bystander,
    "kustomization.yaml": kustomization,
    "step.env": Object.entries(stamp.env)
      .map((pair) => pair.join("="))
      .join("\n"),
    token: stamp.token,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const built = execFileSync(installKubectl(), ["kustomize", folder], { encoding: "utf8" });
  return parseResources(built);
}

/** What differs by design: where the environment comes from, and the order of lists that have none. */
function withoutEnv(container: Container): unknown {
  const { volumeMounts = [], securityContext = {}, ...others } = container;
  return {
    ...others,
    env: undefined,
    envFrom: undefined,
    securityContext: { ...securityContext, runAsUser: undefined },
    volumeMounts: byName(volumeMounts),
  };
}

function byName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => a.name.localeCompare(b.name));
}

function onlyPod(resources: readonly Resource[]): PodSpec & { volumes: { name: string }[] } {
  const [pod] = podSpecsIn(resources.filter(({ kind }) => kind === "Job"));
  if (pod === undefined) throw new Error("no Job");
  return pod as PodSpec & { volumes: { name: string }[] };
}

it("the component makes of a Job what inject makes of it", async () => {
  const stamp = await makeStamp();
  const built = build(stamp);
  const flags = ["--cp-url", url, "--registry", "registry.example.com", "--step", "judge"];
  const injected = onlyPod(parseResources((await runInject(job, flags)).stdout));
  const pod = onlyPod(built);

  const [prefill, sidecar, own, ...rest] = pod.initContainers ?? [];
  expect([own?.name, rest]).toEqual(["own", []]);
  expect([prefill, sidecar].map((one) => one && withoutEnv(one))).toEqual(
    injected.initContainers?.map(withoutEnv),
  );
  expect(pod.containers.map(withoutEnv)).toEqual(injected.containers.map(withoutEnv));
  expect(byName(pod.volumes).map(({ name }) => name)).toEqual(
    byName(injected.volumes).map(({ name }) => name),
  );
  expect(pod.volumes).toContainEqual(
    injected.volumes.find(({ name }) => name === "wfvar-variables"),
  );
  expect(pod.terminationGracePeriodSeconds).toBe(injected.terminationGracePeriodSeconds);
});

it("the component's containers have every setting of the stamp, and the token under its hashed name", async () => {
  const stamp = await makeStamp();
  const built = build(stamp);
  const pod = onlyPod(built);
  const dataOf = (kind: string) =>
    built.find((resource) => resource.kind === kind) as Resource & { data: Record<string, string> };
  const { data, metadata } = dataOf("ConfigMap");
  expect(metadata.name).toMatch(/^wfvar-step-\w+$/);
  const ours = allContainers(pod).filter(({ image }) => image.includes("wfvar-sidecar"));
  expect(ours).toHaveLength(2);
  for (const container of ours) {
    expect(container).toMatchObject({ envFrom: [{ configMapRef: { name: metadata.name } }] });
    const env = { ...data, ...envOf(container, { WFVAR_INSTANCE: "a-pods-uid" }) };
    expect(parseConfig([], env)).toMatchObject({
      config: { target: { run: stamp.env["WFVAR_RUN"], attempt: 1 } },
    });
  }
  const secret = dataOf("Secret");
  expect(Buffer.from(secret.data["token"] ?? "", "base64").toString()).toBe(stamp.token);
  expect(pod.volumes).toContainEqual(
    expect.objectContaining({
      name: "wfvar-token",
      secret: expect.objectContaining({ secretName: secret.metadata.name, defaultMode: 0o444 }),
    }),
  );
});

it("the component leaves what is no Job alone", async () => {
  const web = build(await makeStamp()).find(({ kind }) => kind === "Deployment");
  expect(web).toEqual(parseResources(bystander)[0]);
});

import { envOf, specOf, type PodSpec } from "./manifests.ts";

/** The Deployment of `docker/kubernetes/control-plane.yaml`, and what its one container is given. */
export interface Deployment {
  readonly replicas: number;
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: PodSpec;
  };
}

export const file = "control-plane.yaml";
export const deployment = specOf(file, "Deployment", "wfvar-control-plane") as Deployment;
const [only] = deployment.template.spec.containers;
if (only === undefined) throw new Error(`${file} has no container`);
export const container = only;
export const env = envOf(container);
export const args = container.args ?? [];
export const mounts = (container.volumeMounts ?? []).map(({ mountPath }) => mountPath);

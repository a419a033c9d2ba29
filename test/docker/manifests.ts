import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

export const manifestFolder = "docker/kubernetes";

/** A resource as far as the tests look at any. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: unknown;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
  readonly securityContext?: Readonly<Record<string, unknown>>;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
}

/** Every YAML file below the folder, as a path from the repository's root. */
export function yamlFiles(): string[] {
  return readdirSync(manifestFolder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => join(manifestFolder, name))
    .toSorted();
}

/** The resources of a file, read as kubectl reads it. */
export function resourcesIn(file: string): Resource[] {
  return parseResources(readFileSync(file, "utf8"));
}

export function parseResources(text: string): Resource[] {
  return parseAllDocuments(text, { version: "1.1" }).map(
    (document) => document.toJS() as unknown as Resource,
  );
}

/** The spec of the resource of that kind and name in `docker/kubernetes/<file>`. */
export function specOf(file: string, kind: string, name: string): unknown {
  const found = resourcesIn(join(manifestFolder, file)).find(
    (resource) => resource.kind === kind && resource.metadata.name === name,
  );
  if (found === undefined) throw new Error(`${file} has no ${kind} ${name}`);
  return found.spec;
}

/** The pods that resources start: of themselves, or of a template. */
export function podSpecsIn(resources: readonly Resource[]): PodSpec[] {
  return resources.flatMap(({ spec }) => {
    const { template, containers } = (spec ?? {}) as {
      template?: { spec: PodSpec };
      containers?: unknown;
    };
    if (template !== undefined) return [template.spec];
    return containers === undefined ? [] : [spec as PodSpec];
  });
}

export function allContainers({ initContainers = [], containers }: PodSpec): Container[] {
  return [...initContainers, ...containers];
}

/** Environment that is given as text; what comes from elsewhere is in `others`. */
export function envOf({ env = [] }: Container, others: Readonly<Record<string, string>> = {}) {
  return Object.fromEntries(env.map(({ name, value }) => [name, value ?? others[name] ?? ""]));
}

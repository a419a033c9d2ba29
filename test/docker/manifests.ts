import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

export const manifestFolder = "docker/kubernetes";

/** A resource as far as the tests look at any. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string };
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
  readonly volumes?: readonly { readonly name: string }[];
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

/** The pods that resources start: of themselves, of a template, or as Argo and Tekton make them. */
export function podSpecsIn(resources: readonly Resource[]): PodSpec[] {
  return resources.flatMap(({ kind, spec }) => {
    switch (kind) {
      case "Pod":
        return [spec as PodSpec];
      case "Job":
      case "Deployment":
        return [(spec as { template: { spec: PodSpec } }).template.spec];
      case "Workflow":
        return argoPods(spec as ArgoSpec);
      case "Task":
        return [tektonPod(spec as TektonSpec)];
      default:
        return [];
    }
  });
}

type ArgoTemplate = Omit<PodSpec, "containers"> & { readonly container: Container };
type ArgoSpec = Omit<PodSpec, "containers"> & { readonly templates: readonly ArgoTemplate[] };

/** What stands at the workflow is every pod's. */
function argoPods({ templates, securityContext = {}, ...workflow }: ArgoSpec): PodSpec[] {
  const { automountServiceAccountToken = true } = workflow;
  return templates.map(({ container, ...template }) => ({
    ...template,
    securityContext,
    automountServiceAccountToken,
    containers: [{ ...container, name: "main" }],
  }));
}

type TektonStep = Container & { readonly computeResources: Container["resources"] };
interface TektonSpec {
  readonly steps: readonly TektonStep[];
  readonly sidecars: readonly TektonStep[];
  readonly volumes: PodSpec["volumes"];
}

/** Steps and sidecars are containers of one pod, whose other fields are the TaskRun's. */
function tektonPod({ steps, sidecars, volumes }: TektonSpec): PodSpec {
  const containers = [...steps, ...sidecars].map(({ computeResources, ...step }) => ({
    ...step,
    ...(computeResources === undefined ? {} : { resources: computeResources }),
  }));
  return { containers, ...(volumes === undefined ? {} : { volumes }) };
}

export function allContainers({ initContainers = [], containers }: PodSpec): Container[] {
  return [...initContainers, ...containers];
}

/**
 * A container's environment: as it is given, with parameters of Argo and Tekton filled in. What comes from elsewhere
 * is in `others`.
 */
export function envOf(
  { env = [] }: Container,
  others: Readonly<Record<string, string>> = {},
  parameters: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value }) => [name, fillIn(value ?? others[name] ?? "", parameters)]),
  );
}

/** Puts arguments in the places of `{{workflow.parameters.…}}` and `$(params.…)`. */
export function fillIn(text: string, parameters: Readonly<Record<string, string>>): string {
  const place = /\{\{workflow\.parameters\.([\w-]+)\}\}|\$\(params\.([\w-]+)\)/g;
  return text.replaceAll(place, (all, argo?: string, tekton?: string) => {
    return parameters[argo ?? tekton ?? ""] ?? all;
  });
}

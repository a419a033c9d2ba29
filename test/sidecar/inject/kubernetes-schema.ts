import { validate as cronJob } from "kubernetes-models/_schemas/IoK8sApiBatchV1CronJob";
import { validate as job } from "kubernetes-models/_schemas/IoK8sApiBatchV1Job";
import { validate as pod } from "kubernetes-models/_schemas/IoK8sApiCoreV1Pod";
import { parseAllDocuments } from "yaml";

type Validate = ((value: unknown) => boolean) & { errors?: unknown };
interface Resource {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly items?: readonly Resource[];
}

/** The API server's own schemas, which kubernetes-models ships as functions that ajv made. */
const schemas: Record<string, Validate> = {
  "v1/Pod": pod,
  "batch/v1/Job": job,
  "batch/v1/CronJob": cronJob,
};

/** What the schemas find wrong in a manifest, read as kubectl reads it; and how many resources they judged. */
export function schemaErrors(manifest: string): { judged: number; errors: unknown[] } {
  const documents = parseAllDocuments(manifest, { version: "1.1" });
  const resources = documents.flatMap((document) => {
    const resource = document.toJS() as Resource | null;
    return resource?.kind === "List" ? (resource.items ?? []) : [resource ?? {}];
  });
  let judged = 0;
  const errors: unknown[] = [];
  for (const resource of resources) {
    const validate = schemas[`${resource.apiVersion ?? ""}/${resource.kind ?? ""}`];
    if (validate === undefined) continue;
    judged += 1;
    if (!validate(resource)) errors.push(validate.errors);
  }
  return { judged, errors };
}

import * as z from "zod";

/** A Pod, a Job or a CronJob as a manifest describes it; only what injection looks at. */

const text = z.string().nullish();
const flag = z.boolean().nullish();
const int = z.int().nullish();
const metadata = z.object({ name: text, generateName: text }).nullish();
const securityContext = z.object({ runAsUser: int }).nullish();

const container = z.object({
  name: z.string(),
  command: z.array(z.string()).nullish(),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: text })).nullish(),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })).nullish(),
  restartPolicy: text,
  restartPolicyRules: z.array(z.unknown()).nullish(),
  securityContext,
  lifecycle: z
    .object({
      preStop: z.looseObject({ sleep: z.object({ seconds: z.int().min(0) }).nullish() }).nullish(),
    })
    .nullish(),
});
export type Container = z.infer<typeof container>;

const volume = z.object({
  name: z.string(),
  emptyDir: z.object({ medium: text }).nullish(),
  secret: z.unknown().optional(),
  configMap: z.unknown().optional(),
});
export type Volume = z.infer<typeof volume>;

const podSpec = z.object({
  containers: z.array(container).min(1),
  initContainers: z.array(container).nullish(),
  volumes: z.array(volume).nullish(),
  restartPolicy: text,
  shareProcessNamespace: flag,
  hostPID: flag,
  automountServiceAccountToken: flag,
  terminationGracePeriodSeconds: int,
  securityContext,
});
export type PodSpec = z.infer<typeof podSpec>;

const jobSpec = z.object({
  backoffLimit: int,
  backoffLimitPerIndex: int,
  completions: int,
  parallelism: int,
  template: z.object({ spec: podSpec }),
});
export type JobSpec = z.infer<typeof jobSpec>;

const pod = z.object({ metadata, spec: podSpec });
const job = z.object({ metadata, spec: jobSpec });
const cronJob = z.object({
  metadata,
  spec: z.object({ jobTemplate: z.object({ spec: jobSpec }) }),
});

type Path = readonly (string | number)[];

export interface Workload {
  /** `Job build`, for messages. */
  readonly label: string;
  readonly kind: "Pod" | "Job" | "CronJob";
  readonly name: string | undefined;
  readonly job: { readonly spec: JobSpec; readonly path: Path } | undefined;
  readonly pod: PodSpec;
  /** Where the pod's spec stands in its document. */
  readonly podPath: Path;
}

export interface Found {
  readonly workloads: readonly Workload[];
  readonly problems: readonly string[];
}

/**
 * The workloads of one document, those in a `List` included. Kinds that injection knows nothing of are no
 * problem; kinds that run for ever are.
 */
export function findWorkloads(untrusted: unknown, path: Path = []): Found {
  const header = z
    .object({ apiVersion: z.string(), kind: z.string(), metadata: metadata.catch(undefined) })
    .safeParse(untrusted).data;
  if (header === undefined) return { workloads: [], problems: [] };
  const { apiVersion, kind } = header;
  const name = header.metadata?.name ?? undefined;
  const label = `${kind} ${name ?? header.metadata?.generateName ?? "without a name"}`;
  const group = apiVersion.includes("/") ? apiVersion.replace(/\/.*/, "") : "";
  switch (`${group}/${kind}`) {
    case "/List":
      return findInList(untrusted, path);
    case "/Pod":
      return checked(pod.safeParse(untrusted), label, ({ spec }) => {
        const podPath = [...path, "spec"];
        return { label, kind: "Pod", name, job: undefined, pod: spec, podPath };
      });
    case "batch/Job":
      return checked(job.safeParse(untrusted), label, ({ spec }) =>
        jobLike("Job", label, name, spec, [...path, "spec"]),
      );
    case "batch/CronJob":
      return checked(cronJob.safeParse(untrusted), label, ({ spec: { jobTemplate } }) =>
        jobLike("CronJob", label, name, jobTemplate.spec, [...path, "spec", "jobTemplate", "spec"]),
      );
    case "apps/Deployment":
    case "apps/ReplicaSet":
    case "apps/StatefulSet":
    case "apps/DaemonSet":
    case "/ReplicationController":
      return {
        workloads: [],
        problems: [
          `${label}: a ${kind} starts its pods again and again, and a step runs once: make it a Job, or keep it in a file of its own`,
        ],
      };
    default:
      return { workloads: [], problems: [] };
  }
}

function findInList(untrusted: unknown, path: Path): Found {
  const items = z.object({ items: z.array(z.unknown()) }).safeParse(untrusted).data?.items ?? [];
  const found = items.map((item, index) => findWorkloads(item, [...path, "items", index]));
  return {
    workloads: found.flatMap(({ workloads }) => workloads),
    problems: found.flatMap(({ problems }) => problems),
  };
}

function jobLike(
  kind: "Job" | "CronJob",
  label: string,
  name: string | undefined,
  spec: JobSpec,
  path: Path,
): Workload {
  const podPath = [...path, "template", "spec"];
  return { label, kind, name, job: { spec, path }, pod: spec.template.spec, podPath };
}

function checked<T>(
  parsed: z.ZodSafeParseResult<T>,
  label: string,
  toWorkload: (value: T) => Workload,
): Found {
  if (parsed.success) return { workloads: [toWorkload(parsed.data)], problems: [] };
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${label}: ${path.join(".")}: ${message}`,
  );
  return { workloads: [], problems };
}

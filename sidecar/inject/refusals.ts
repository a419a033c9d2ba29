import { defaultRoot, rootVariable } from "../../contract/layout.ts";
import { suggest } from "../../contract/nearest-name.ts";
import type { InjectOptions } from "./inject-settings.ts";
import { kitFolder, kitVolume, sidecarName, variablesVolume } from "./names.ts";
import { nameProblems } from "./name-problems.ts";
import type { Container, JobSpec, PodSpec, Workload } from "./workload.ts";

/** What stands against a workload, each with its reason and what to do; all of it at once. */
export function refusalsOf(workload: Workload, options: InjectOptions): string[] {
  const { label, name, job, pod } = workload;
  const agent = agentOf(pod, options.container);
  const problems = [
    ...(job === undefined ? [] : jobProblems(job.spec)),
    ...podProblems(pod),
    ...nameProblems(pod),
    ...(typeof agent === "string" ? [agent] : agentProblems(agent, options)),
  ];
  if (name === undefined && options.tokenSecret === undefined) {
    problems.push("has no metadata.name to name its Secret after: give --token-secret");
  }
  return problems.map((problem) => `${label}: ${problem}`);
}

/** The agent's container, or why none can be told. */
export function agentOf(
  { containers }: Pick<PodSpec, "containers">,
  wanted: string | undefined,
): Container | string {
  const candidates = containers.filter(({ name }) => name !== sidecarName);
  const names = candidates.map(({ name }) => name);
  if (wanted !== undefined) {
    return (
      candidates.find(({ name }) => name === wanted) ??
      `has no container ${wanted}${suggest(wanted, names)}: it has ${names.join(", ")}`
    );
  }
  const [first, ...others] = candidates;
  if (first === undefined) return "has no container for an agent";
  if (others.length === 0) return first;
  return `has ${String(names.length)} containers (${names.join(", ")}): name the agent's with --container`;
}

function jobProblems(job: JobSpec): string[] {
  const problems: string[] = [];
  if ((job.backoffLimit ?? 0) > 0 || (job.backoffLimitPerIndex ?? 0) > 0) {
    problems.push(
      "retries its pod (backoffLimit over 0), and an attempt is for one pod: set backoffLimit: 0, and stamp a new attempt instead",
    );
  }
  if ((job.parallelism ?? 1) > 1 || (job.completions ?? 1) > 1) {
    problems.push(
      "runs several pods (parallelism or completions over 1), and an attempt is for one pod: make a Job of each step",
    );
  }
  return problems;
}

function podProblems(pod: PodSpec): string[] {
  const problems: string[] = [];
  const { restartPolicy } = pod;
  if (typeof restartPolicy === "string" && restartPolicy !== "Never") {
    problems.push(
      `has restartPolicy ${restartPolicy}, and a step completes once per pod: set it to Never`,
    );
  }
  if (pod.shareProcessNamespace === true) {
    problems.push(
      "has shareProcessNamespace: true, which shows the agent the sidecar's token through /proc: remove it",
    );
  }
  if (pod.hostPID === true) {
    problems.push(
      "has hostPID: true, which shows the agent the sidecar's token through /proc: remove it",
    );
  }
  return problems;
}

function agentProblems(agent: Container, { kit }: InjectOptions): string[] {
  const { name, command, args, env, volumeMounts, restartPolicy, restartPolicyRules } = agent;
  const problems: string[] = [];
  if ((command ?? []).length === 0) {
    const given = (args ?? []).length === 0 ? "no command" : "args without a command";
    problems.push(
      `container ${name} has ${given}: say what its image runs as command, for the entrypoint to run it`,
    );
  }
  if ((restartPolicy ?? "Never") !== "Never" || (restartPolicyRules ?? []).length > 0) {
    problems.push(
      `container ${name} is restarted by itself, and a step completes once per pod: remove its restartPolicy and restartPolicyRules`,
    );
  }
  const own = new Map([[defaultRoot, variablesVolume]]);
  if (kit === "volume") own.set(kitFolder, kitVolume);
  for (const { mountPath, name: volume } of volumeMounts ?? []) {
    const path = mountPath.replace(/(?<=.)\/+$/, "");
    const ours = own.get(path);
    if (ours === undefined || ours === volume) continue;
    problems.push(
      `container ${name} mounts the volume ${volume} at ${path}, where ${ours} goes: mount it elsewhere`,
    );
  }
  const root = env?.find((variable) => variable.name === rootVariable);
  if (root !== undefined && root.value !== defaultRoot) {
    problems.push(
      `container ${name} sets ${rootVariable}, and the volume is mounted at ${defaultRoot}: remove the variable`,
    );
  }
  return problems;
}

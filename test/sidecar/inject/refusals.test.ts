import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../support/temp-folder.ts";
import { runInject, stepFlags } from "./run-inject.ts";

/** A pod that nothing stands against, with lines added to its spec and to its agent's container. */
function pod(spec: readonly string[], agent: readonly string[] = ["command: [agent]"]): string {
  return [
    "apiVersion: v1",
    "kind: Pod",
    "metadata: { name: judge }",
    "spec:",
    ...spec.map((line) => `  ${line}`),
    "  containers:",
    "    - name: agent",
    "      image: example.com/agent:1",
    ...agent.map((line) => `      ${line}`),
    "",
  ].join("\n");
}

function job(spec: readonly string[]): string {
  return [
    "apiVersion: batch/v1",
    "kind: Job",
    "metadata: { name: judge }",
    "spec:",
    ...spec.map((line) => `  ${line}`),
    "  template:",
    "    spec:",
    "      containers: [{ name: agent, image: a, command: [agent] }]",
    "",
  ].join("\n");
}

const withCommand = (...lines: string[]): string[] => ["command: [agent]", ...lines];

/** A few lines that stand for 9 ** 8 nodes. */
function endlessAliases(): string {
  const names = "abcdefgh".split("");
  const lines = names.map((name, index) => {
    const inner = index === 0 ? "x" : `*${names[index - 1] ?? ""}`;
    return `${name}: &${name} [${Array.from({ length: 9 }, () => inner).join(", ")}]`;
  });
  return `${lines.join("\n")}\n`;
}

type Row = readonly [what: string, manifest: string, flags: readonly string[], said: string];

const rows: readonly Row[] = [
  [
    "a shared process namespace",
    pod(["shareProcessNamespace: yes"]),
    [],
    "Pod judge: has shareProcessNamespace: true, which shows the agent the sidecar's token through /proc: remove it",
  ],
  [
    "the host's processes",
    pod(["hostPID: true"]),
    [],
    "Pod judge: has hostPID: true, which shows the agent the sidecar's token through /proc: remove it",
  ],
  [
    "a pod that restarts its containers",
    pod(["restartPolicy: OnFailure"]),
    [],
    "Pod judge: has restartPolicy OnFailure, and a step completes once per pod: set it to Never",
  ],
  [
    "an agent that is restarted alone",
    pod([], withCommand("restartPolicy: OnFailure")),
    [],
    "Pod judge: container agent is restarted by itself, and a step completes once per pod: remove its restartPolicy and restartPolicyRules",
  ],
  [
    "a Job that retries",
    job(["backoffLimit: 6"]),
    [],
    "Job judge: retries its pod (backoffLimit over 0), and an attempt is for one pod: set backoffLimit: 0, and stamp a new attempt instead",
  ],
  [
    "a Job of several pods",
    job(["completions: 3"]),
    [],
    "Job judge: runs several pods (parallelism or completions over 1), and an attempt is for one pod: make a Job of each step",
  ],
  [
    "an agent without a command",
    pod([], []),
    [],
    "Pod judge: container agent has no command: say what its image runs as command, for the entrypoint to run it",
  ],
  [
    "args without a command",
    pod([], ["args: [--all]"]),
    [],
    "Pod judge: container agent has args without a command: say what its image runs as command, for the entrypoint to run it",
  ],
  [
    "several containers",
    pod([]).replace("containers:", "$&\n    - { name: other, image: a }"),
    [],
    "Pod judge: has 2 containers (other, agent): name the agent's with --container",
  ],
  [
    "a container that is not there",
    pod([]),
    ["--container", "agnet"],
    "Pod judge: has no container agnet (did you mean `agent`?): it has agent",
  ],
  [
    "a volume of our name on disk",
    pod(["volumes: [{ name: wfvar-variables, emptyDir: {} }]"]),
    [],
    "Pod judge: has a volume wfvar-variables that is not ours: give it another name",
  ],
  [
    "a token volume that is no Secret",
    pod(["volumes: [{ name: wfvar-token, configMap: { name: x } }]"]),
    [],
    "Pod judge: has a volume wfvar-token that is not ours: give it another name",
  ],
  [
    "a container that mounts the token",
    pod([], withCommand("volumeMounts: [{ name: wfvar-token, mountPath: /token }]")),
    [],
    "Pod judge: container agent mounts wfvar-token, and the token is the sidecar's alone: remove the mount",
  ],
  [
    "an issuer's volume that is no ConfigMap",
    pod(["volumes: [{ name: wfvar-ca, emptyDir: {} }]"]),
    [],
    "Pod judge: has a volume wfvar-ca that is not ours: give it another name",
  ],
  [
    "a kit volume that is not empty",
    pod(["volumes: [{ name: wfvar-kit, hostPath: { path: /opt } }]"]),
    [],
    "Pod judge: has a volume wfvar-kit that is not ours: give it another name",
  ],
  [
    "a container of our name",
    pod(["initContainers: [{ name: wfvar-prefill, image: a, args: [serve] }]"]),
    [],
    "Pod judge: has a container wfvar-prefill that is not ours: give it another name",
  ],
  [
    "another volume at /variables",
    pod([], withCommand("volumeMounts: [{ name: data, mountPath: /variables/ }]")),
    [],
    "Pod judge: container agent mounts the volume data at /variables, where wfvar-variables goes: mount it elsewhere",
  ],
  [
    "another volume where the kit goes",
    pod([], withCommand("volumeMounts: [{ name: data, mountPath: /opt/agent }]")),
    ["--kit", "volume"],
    "Pod judge: container agent mounts the volume data at /opt/agent, where wfvar-kit goes: mount it elsewhere",
  ],
  [
    "a root of the agent's own",
    pod([], withCommand("env: [{ name: WORKFLOW_VARIABLES_ROOT, value: /data }]")),
    [],
    "Pod judge: container agent sets WORKFLOW_VARIABLES_ROOT, and the volume is mounted at /variables: remove the variable",
  ],
  [
    "a workload without a name",
    pod([]).replace("name: judge", "generateName: judge-"),
    [],
    "Pod judge-: has no metadata.name to name its Secret after: give --token-secret",
  ],
  [
    "a Deployment",
    pod([]) + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\n",
    [],
    "Deployment web: a Deployment starts its pods again and again, and a step runs once: make it a Job, or keep it in a file of its own",
  ],
  [
    "two pods for one stamp",
    pod([]) + "---\n" + pod([]).replace("name: judge", "name: other"),
    [],
    "Pod judge, Pod other: a stamped step is for one pod: keep each in its own file",
  ],
  [
    "a manifest without a workload",
    "apiVersion: v1\nkind: Service\nmetadata: { name: judge }\n",
    [],
    "the manifest has no Pod, Job or CronJob",
  ],
  ["an empty manifest", "", [], "the manifest has no Pod, Job or CronJob"],
  [
    "a pod without containers",
    "apiVersion: v1\nkind: Pod\nmetadata: { name: judge }\nspec: {}\n",
    [],
    "Pod judge: spec.containers: Invalid input: expected array, received undefined",
  ],
  [
    "a key that stands twice",
    "kind: Pod\nkind: Job\n",
    [],
    "Map keys must be unique at line 2, column 1",
  ],
  [
    "aliases that expand without end",
    endlessAliases(),
    [],
    "Excessive alias count indicates a resource exhaustion attack",
  ],
  [
    "control characters, escaped",
    pod([]).replace("name: judge }", 'name: "a\\e[31m" }').replace("command: [agent]", ""),
    [],
    "Pod a\\x1b[31m: container agent has no command: say what its image runs as command, for the entrypoint to run it",
  ],
  ["two kinds of sidecar", pod([]), ["--native", "--plain"], "takes --native or --plain, not both"],
  [
    "a token in the clear",
    pod([]),
    ["--cp-url", "http://cp:8411"],
    "WFVAR_CP_URL must be https:// beyond loopback, or give --allow-http",
  ],
  ["a kit from elsewhere", pod([]), ["--kit", "cloud"], "--kit must be image or volume"],
  ["root as the agent's uid", pod([]), ["--agent-uid", "0"], "--agent-uid must be a uid from 1"],
  [
    "a step that is none",
    pod([]),
    ["--step", "workflow"],
    "--step must be a step path such as judge or review-loop_2.judge",
  ],
  ["words", pod([]), ["job.yaml"], "takes flags only, no other words: the manifest is -f FILE"],
  [
    "a file that is not there",
    pod([]),
    ["-f", "/no/such/file"],
    "/no/such/file cannot be read: ENOENT",
  ],
  [
    "a stamp that is none",
    pod([]),
    ["--stamp", join(import.meta.dirname, "run-inject.ts")],
    "--stamp is not the answer of POST /v1/runs/{run}/steps",
  ],
];

describe("inject refuses, with one line and no manifest,", () => {
  it.each(rows)("%s", async (_, manifest, flags, said) => {
    expect(await runInject(manifest, [...stepFlags, ...flags])).toEqual({
      stdout: "",
      said: [said],
      code: "config_invalid",
    });
  });

  it("nothing of the pod that the rows above change", async () => {
    for (const manifest of [pod([]), job([])]) {
      expect((await runInject(manifest, stepFlags)).code).toBe(undefined);
    }
  });
});

describe("inject", () => {
  it("says everything that stands against a manifest at once", async () => {
    const manifest =
      pod(["hostPID: true", "restartPolicy: Always"], []) + "---\n" + job(["backoffLimit: 3"]);
    const { said, stdout } = await runInject(manifest);
    expect(said.map((line) => line.slice(0, 32))).toEqual([
      "Pod judge: has restartPolicy Alw",
      "Pod judge: has hostPID: true, wh",
      "Pod judge: container agent has n",
      "Job judge: retries its pod (back",
    ]);
    expect(stdout).toBe("");
  });

  it("asks for a manifest where none is named, and for no folder", async () => {
    const folder = join(tempFolder(), "job.yaml");
    mkdirSync(folder);
    expect((await runInject("", ["-f", folder])).said).toEqual([
      `${folder} cannot be read: EISDIR`,
    ]);
    expect((await runInject("", ["--file="])).said).toEqual([
      "--file must be a manifest: -f FILE, or -f - for stdin",
    ]);
  });
});

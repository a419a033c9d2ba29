import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { version } from "../../../contract/version.ts";
import { parseConfig } from "../../../sidecar/config.ts";
import { imageFlags, runInject, stepFlags } from "./run-inject.ts";
import { schemaErrors } from "./kubernetes-schema.ts";

const fixtures = join(import.meta.dirname, "fixtures");
const read = (name: string): string => readFileSync(join(fixtures, name), "utf8");
const stamp = join(fixtures, "stamp.json");

interface Case {
  readonly file: string;
  readonly flags?: readonly string[];
  readonly warnings?: readonly string[];
  /** Lines of the input that do not stand in the output. */
  readonly rewritten?: readonly string[];
}

const command = "command: [agent]";
const lostFiles =
  "the sidecar runs as 65532, and files of mode 0600 are lost where the agent is killed before its entrypoint opened them";

const cases: readonly Case[] = [
  {
    file: "pod",
    rewritten: [
      'command: ["sh", "-c", "echo approve > $WORKFLOW_VARIABLES_SELF/VERDICT"] # one word',
    ],
  },
  { file: "job-flush-lists" },
  {
    file: "comments",
    rewritten: ["- agent   # behind it", "initContainers: []", "- name: work   # behind its name"],
  },
  {
    file: "cron-job",
    rewritten: [command],
    warnings: [
      "warning: CronJob nightly: an attempt is for one pod: every run after the first will be refused",
    ],
  },
  { file: "several-documents", rewritten: [command] },
  { file: "several-containers", flags: ["--container", "agent"], rewritten: [command] },
  { file: "init-containers", rewritten: [command] },
  {
    file: "shutdown",
    rewritten: ["terminationGracePeriodSeconds: 30", command],
    warnings: [
      "warning: Pod judge: terminationGracePeriodSeconds is raised from 30 to 145, for the agent's end and the delivery",
    ],
  },
  {
    file: "longer-grace",
    rewritten: [command],
    warnings: [
      "warning: Pod judge: the preStop hook of agent counts as 0s: add the time that it takes to terminationGracePeriodSeconds",
      "warning: Pod judge: automountServiceAccountToken: true is kept: the agent can speak to the cluster's API",
    ],
  },
  {
    file: "anchors",
    flags: ["--container", "agent"],
    rewritten: [
      "labels: &labels",
      "tier: &tier agents",
      "<<: *labels",
      "- &base",
      "name: agent",
      "command: &command [agent]",
      "env: &env",
      "value: *tier",
      "securityContext: &user",
      "- <<: *base",
      "command: *command",
      "<<: [*labels, { zone: a, app: other }]",
    ],
    warnings: ["warning: Pod judge: anchors and merge keys are written out"],
  },
  { file: "list", rewritten: [command] },
  {
    file: "brackets",
    rewritten: [
      'metadata: {name: judge, annotations: , labels: {a: ""}, namespace}',
      `spec: {containers: [{name: agent, image: "example.com/agent:1", command: ['agent', '--all'], env: [], securityContext: {runAsUser: 1000}}]}`,
    ],
  },
  {
    file: "plain",
    flags: "--container agent --plain --ca-config-map issuer".split(" "),
    rewritten: [command],
  },
  {
    file: "kit-volume",
    flags: ["--kit", "volume"],
    rewritten: ["command: [node, agent.mjs]", "volumes: []"],
  },
  {
    file: "entrypoint-there",
    flags: ["--token-secret", "judge-token"],
    rewritten: [
      "command: [/opt/agent/bin/entrypoint, --capture-response, --, agent]",
      "value: /variables/another",
    ],
  },
  {
    file: "spelling",
    rewritten: ["one two", "three", `command: [ agent, '0400', "yes" ]`, "volumeMounts: ~"],
  },
  {
    file: "root-agent",
    rewritten: [command],
    warnings: [
      `warning: Pod judge: the agent runs as root: ${lostFiles}; give it another securityContext.runAsUser`,
    ],
  },
];

const unstamped: Case = {
  file: "unstamped",
  rewritten: [command],
  warnings: [
    `warning: Job judge: the agent's uid is only in its image: ${lostFiles}; set securityContext.runAsUser, or give --agent-uid`,
    "warning: Job judge: WFVAR_CP_URL, WFVAR_RUN, WFVAR_STEP, WFVAR_ATTEMPT, WFVAR_DEADLINE left empty: whoever creates the pod must fill them in",
  ],
};
const stamped: Case = {
  file: "unstamped",
  flags: [
    ...imageFlags,
    ...`--stamp ${stamp} --cp-url http://cp:8411 --allow-http --agent-uid 1000`.split(" "),
  ],
  rewritten: [command],
};

const all: readonly (Case & { readonly output: string })[] = [
  ...cases.map((one) => ({
    ...one,
    flags: [...stepFlags, ...(one.flags ?? [])],
    output: `${one.file}.out.yaml`,
  })),
  { ...unstamped, flags: imageFlags, output: "unstamped.out.yaml" },
  { ...stamped, output: "stamped.out.yaml" },
];

describe.each(all)("inject gives $output", ({ file, flags, output, warnings, rewritten }) => {
  const input = read(`${file}.in.yaml`);

  it("as it was reviewed, with its warnings", async () => {
    const { stdout, said, code } = await runInject(input, flags);
    await expect(stdout).toMatchFileSnapshot(join(fixtures, output));
    expect([code, said]).toEqual([undefined, warnings ?? []]);
  });

  it("the same again from its own output", async () => {
    const { stdout } = await runInject(input, flags);
    expect((await runInject(stdout, flags)).stdout).toBe(stdout);
  });

  it("valid by Kubernetes' schemas", async () => {
    const { stdout } = await runInject(input, flags);
    expect(schemaErrors(stdout)).toEqual({ judged: 1, errors: [] });
  });

  it("with every line of the input in its place, but for those that must change", async () => {
    const { stdout } = await runInject(input, flags);
    const lines = stdout.split("\n").map((line) => line.trim());
    let next = 0;
    const missing = input
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
      .filter((line) => {
        const at = lines.indexOf(line, next);
        if (at !== -1) next = at + 1;
        return at === -1;
      });
    expect(missing).toEqual(rewritten ?? []);
  });
});

describe("inject", () => {
  it("takes JSON and gives JSON, which kubectl tells by its brace", async () => {
    const { stdout, said } = await runInject(read("json.in.json"), stepFlags);
    await expect(stdout).toMatchFileSnapshot(join(fixtures, "json.out.json"));
    expect(said).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({
      metadata: { labels: { on: "yes", build: "0400" } },
      spec: { backoffLimit: 0 },
    });
    expect(schemaErrors(stdout)).toEqual({ judged: 1, errors: [] });
    expect((await runInject(stdout, stepFlags)).stdout).toBe(stdout);
  });

  it.each(["pod", "job-flush-lists", "init-containers", "spelling", "brackets"])(
    "makes of a %s that was injected with other flags what it makes of the original",
    async (file) => {
      const input = read(`${file}.in.yaml`);
      const others =
        "--plain --kit volume --ca-config-map issuer --run another --step l_1.other".split(" ");
      const before = await runInject(input, others);
      expect(before.stdout).toContain("wfvar-kit");
      const { stdout } = await runInject(before.stdout, stepFlags);
      expect(stdout).toBe((await runInject(input, stepFlags)).stdout);
    },
  );

  it("hands documents without a workload on byte for byte", async () => {
    const input = read("several-documents.in.yaml");
    const { stdout } = await runInject(input, stepFlags);
    const [service, , ...rest] = input.split(/^(?=---$)/m);
    expect(stdout.startsWith(service ?? "")).toBe(true);
    expect(stdout.endsWith(rest.join(""))).toBe(true);
  });

  it("shows no manifest the token, and takes run, step, attempt and limits from the stamp", async () => {
    const flags = ["--stamp", stamp, "--cp-url", "https://cp:8411"];
    const { stdout } = await runInject(read("pod.in.yaml"), flags);
    expect(stdout).not.toContain("the-step-token-is-a-secret");
    expect(stdout).not.toContain("WFVAR_OF_A_LATER_VERSION");
    expect(stdout).toContain("value: /variables/review_2/judge");
    // Twice: prefill and sidecar.
    expect(stdout.match(/name: WFVAR_MAX_STEP_BYTES\n +value: "104857600"/g)).toHaveLength(2);
    expect(stdout).toContain("sizeLimit: 148Mi");
  });

  it("lets a flag win over the stamp, and the stamp over the environment", async () => {
    const flags = ["--stamp", stamp, "--attempt", "4"];
    const env = { WFVAR_RUN: "of-the-shell", WFVAR_CP_URL: "https://of-the-shell" };
    const { stdout } = await runInject(read("pod.in.yaml"), flags, env);
    const valueOf = (name: string): string | undefined =>
      new RegExp(`name: ${name}\\n +value: (.*)`).exec(stdout)?.[1];
    expect(valueOf("WFVAR_ATTEMPT")).toBe('"4"');
    expect(valueOf("WFVAR_RUN")).toBe("review-7");
    expect(valueOf("WFVAR_CP_URL")).toBe("https://of-the-shell");
  });

  it.each([
    [[], `wfvar-sidecar:${version}`],
    [["--registry", "example.com/tools/"], `example.com/tools/wfvar-sidecar:${version}`],
    [["--image", "example.com/own:2", "--registry", "example.com"], "example.com/own:2"],
  ])("with %j takes its containers' image from %s", async (flags, image) => {
    const { stdout } = await runInject(read("pod.in.yaml"), flags);
    expect(stdout.match(/image: .*/g)?.slice(1)).toEqual([`image: ${image}`, `image: ${image}`]);
  });

  it("leaves it to the sidecar to name what nobody filled in", async () => {
    const { stdout } = await runInject(read("unstamped.in.yaml"));
    const { spec } = parse(stdout) as {
      spec: {
        template: { spec: { initContainers: { env: { name: string; value?: string }[] }[] } };
      };
    };
    const envs = spec.template.spec.initContainers.map(({ env }) =>
      Object.fromEntries(env.map(({ name, value }) => [name, value ?? "uid"])),
    );
    expect(envs).toHaveLength(2);
    for (const env of envs) {
      expect(() => parseConfig([], env)).toThrow(
        /^WFVAR_CP_URL is required: [^;]*; WFVAR_RUN is required: [^;]*; WFVAR_STEP is required: [^;]*$/,
      );
    }
  });

  it("mounts the token into its own two containers alone", async () => {
    const flags = [...stepFlags, "--container", "agent"];
    const { stdout } = await runInject(read("several-containers.in.yaml"), flags);
    const { spec } = parse(stdout) as {
      spec: Record<
        "containers" | "initContainers",
        { name: string; volumeMounts?: { name: string }[] }[]
      >;
    };
    const holders = [...spec.initContainers, ...spec.containers].filter(({ volumeMounts }) =>
      volumeMounts?.some(({ name }) => name === "wfvar-token"),
    );
    expect(holders.map(({ name }) => name)).toEqual(["wfvar-prefill", "wfvar-sidecar"]);
  });

  it("says --help, with every flag", async () => {
    const { stdout } = await runInject("", ["--help"]);
    expect(stdout).toMatch(/^wfvar-sidecar inject: /);
    for (const flag of ["--file", "--stamp", "--cp-url", "--plain", "--kit", "--token-secret"]) {
      expect(stdout).toContain(`  ${flag}`);
    }
  });
});

it("the schemas notice a container without a name and a port that is no number", () => {
  const pod = "apiVersion: v1\nkind: Pod\nspec: {containers: [{ports: [{containerPort: web}]}]}\n";
  expect(schemaErrors(pod).errors).toHaveLength(1);
});

import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { startControlPlane } from "../support/control-plane.ts";
import { dist } from "../support/dist.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runInject } from "../sidecar/inject/run-inject.ts";

interface Container {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly restartPolicy?: string;
}

const manifest = `
apiVersion: v1
kind: Pod
metadata: { name: judge }
spec:
  securityContext: { runAsUser: 1000 }
  containers:
    - name: agent
      image: node:24
      command: [sh, -c]
      args: ['/opt/agent/bin/wfvar get workflow.inputs.repo | /opt/agent/bin/wfvar set verdict --stdin']
`;

/** A kit as the sidecar's image has it; its tini does what matters here, and starts the command. */
function makeKit(): string {
  const kit = join(tempFolder(), "kit");
  cpSync(join(dist, "agent"), kit, { recursive: true });
  writeFileSync(join(kit, "bin/tini"), '#!/bin/sh\nshift\nexec "$@"\n');
  chmodSync(join(kit, "bin/tini"), 0o755);
  return kit;
}

/** The kubelet's part: what the pod mounts are folders here, and its image is `dist/`. */
class Kubelet {
  readonly #mounts: ReadonlyMap<string, string>;
  readonly #podUid = randomUUID();
  readonly #kit: string;

  constructor(token: string, kit: string) {
    const folder = tempFolder();
    this.#kit = kit;
    this.#mounts = new Map(
      ["/variables", "/opt/agent", "/var/run/secrets/wfvar"].map((path) => [path, folder + path]),
    );
    for (const mount of this.#mounts.values()) mkdirSync(mount, { recursive: true });
    writeFileSync(this.#at("/var/run/secrets/wfvar/token"), token);
  }

  start({ command, args = [], env }: Container): ChildProcess {
    const [file = "", ...words] = command ?? ["node", join(dist, "sidecar", "main.mjs")];
    const own = env.map(({ name, value }) => [name, this.#at(value ?? this.#podUid)]);
    const child = spawn(
      this.#at(file),
      [...words, ...args].map((word) => this.#at(word === "/kit" ? "/opt/agent" : word)),
      {
        env: {
          PATH: process.env["PATH"],
          WORKFLOW_VARIABLES_ROOT: this.#at("/variables"),
          WFVAR_KIT_DIR: this.#kit,
          ...Object.fromEntries(own),
        },
        stdio: ["ignore", "inherit", "ignore"],
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  }

  #at(text: string): string {
    let here = text;
    for (const [path, folder] of this.#mounts) here = here.replaceAll(path, folder);
    return here;
  }
}

async function exitOf(child: ChildProcess): Promise<unknown> {
  if (child.exitCode === null) await once(child, "exit");
  return child.exitCode;
}

it.each(["--native", "--plain"])(
  "a pod that inject %s wrote carries its value to the control plane",
  async (sidecarKind) => {
    const cp = await startControlPlane();
    const run = await cp.createRun({ template: "t", inputs: { repo: "a repository" } });
    const stamped = await cp.stamp(run, { step: "judge" });
    const stamp = join(tempFolder(), "stamp.json");
    writeFileSync(stamp, JSON.stringify(stamped));

    const flags = ["--stamp", stamp, "--cp-url", cp.stepUrl, "--kit", "volume", sidecarKind];
    const { stdout, said } = await runInject(manifest, flags);
    expect(said).toEqual([]);
    const { spec } = parse(stdout) as {
      spec: Record<"initContainers" | "containers", readonly Container[]>;
    };

    const kubelet = new Kubelet(stamped.token, makeKit());
    const sidecars: ChildProcess[] = [];
    for (const container of spec.initContainers) {
      const child = kubelet.start(container);
      if (container.restartPolicy === "Always") sidecars.push(child);
      else expect(await exitOf(child)).toBe(0);
    }
    const main = spec.containers.map((container) => kubelet.start(container));
    expect(await Promise.all(main.map(exitOf))).toEqual(main.map(() => 0));
    for (const sidecar of sidecars) sidecar.kill("SIGTERM");
    expect(await Promise.all(sidecars.map(exitOf))).toEqual(sidecars.map(() => 0));

    const { json } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=judge.`);
    expect(json).toMatchObject({
      variables: [{ key: "judge.verdict", size: 12, set_by: "judge" }],
    });
    expect((await cp.operate("GET", `/v1/runs/${run}/steps`)).json).toMatchObject({
      steps: [{ step: "judge", status: "succeeded" }],
    });
  },
);

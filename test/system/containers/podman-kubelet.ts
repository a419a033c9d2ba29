import { randomUUID } from "node:crypto";
import { chmodSync, chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempFolder } from "../../support/temp-folder.ts";
import { podman, run } from "./engine.ts";
import { makeVolume } from "./volume.ts";

/** What of a pod's manifest is acted upon here; another field of a volume is an error. */
export interface PodSpec {
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly securityContext?: SecurityContext;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
  readonly resources?: { readonly limits?: { readonly memory?: string } };
  readonly restartPolicy?: string;
  readonly securityContext?: SecurityContext;
}

interface SecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly fsGroup?: number;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly drop?: readonly string[] };
}

interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string };
  readonly secret?: { readonly defaultMode?: number };
}

export interface KubeletDeps {
  readonly token: string;
  /** The image of this machine that stands for the manifest's. */
  readonly imageOf: (image: string) => string;
}

/**
 * Runs a pod's containers as its manifest says, in a kubelet's order: init containers one after the other, native
 * sidecars started among them, then the others; SIGTERM to the sidecars at the end. Gives each container's exit code.
 */
export async function runPod(spec: PodSpec, deps: KubeletDeps): Promise<Record<string, number>> {
  const pod = new PodmanPod(spec, deps);
  const codes: Record<string, number> = {};
  const sidecars: string[] = [];
  for (const { name, restartPolicy } of spec.initContainers ?? []) {
    await pod.start(name);
    if (restartPolicy === "Always") sidecars.push(name);
    else codes[name] = await pod.exitOf(name);
    if ((codes[name] ?? 0) !== 0) return codes;
  }
  for (const { name } of spec.containers) await pod.start(name);
  for (const { name } of spec.containers) codes[name] = await pod.exitOf(name);
  for (const name of sidecars) codes[name] = await pod.terminate(name);
  return codes;
}

class PodmanPod {
  readonly #spec: PodSpec;
  readonly #deps: KubeletDeps;
  readonly #uid = randomUUID();
  readonly #sources: ReadonlyMap<string, string>;

  constructor(spec: PodSpec, deps: KubeletDeps) {
    this.#spec = spec;
    this.#deps = deps;
    const { fsGroup } = spec.securityContext ?? {};
    this.#sources = new Map(
      (spec.volumes ?? []).map((volume) => [volume.name, this.#source(volume, fsGroup)]),
    );
    onTestFinished(async () => {
      for (const { name } of [...(spec.initContainers ?? []), ...spec.containers]) {
        await podman("rm", "--force", "--ignore", "--time", "0", this.#nameOf(name));
      }
    });
  }

  async start(name: string): Promise<void> {
    const container = [...(this.#spec.initContainers ?? []), ...this.#spec.containers].find(
      (each) => each.name === name,
    );
    if (container === undefined) throw new Error(`no container ${name}`);
    const { image, command, args = [] } = container;
    await podman(
      "run",
      "--detach",
      `--name=${this.#nameOf(name)}`,
      "--network=host",
      ...this.#security(container),
      ...this.#environment(container),
      ...this.#mounts(container),
      ...(command === undefined ? [] : [`--entrypoint=${JSON.stringify(command)}`]),
      this.#deps.imageOf(image),
      ...args,
    );
  }

  async exitOf(name: string): Promise<number> {
    const code = Number(await podman("wait", this.#nameOf(name)));
    if (code !== 0) console.error(name, (await run("podman", "logs", this.#nameOf(name))).stderr);
    return code;
  }

  async terminate(name: string): Promise<number> {
    await podman("kill", "--signal", "TERM", this.#nameOf(name));
    return this.exitOf(name);
  }

  #nameOf(container: string): string {
    return `wfvar-${this.#uid}-${container}`;
  }

  #source({ name, emptyDir, secret }: Volume, fsGroup: number | undefined): string {
    if (emptyDir?.medium === "Memory") return makeVolume(fsGroup);
    const folder = tempFolder();
    chmodSync(folder, 0o777);
    if (fsGroup !== undefined) chownSync(folder, 0, fsGroup);
    if (secret !== undefined) {
      chmodSync(folder, 0o755);
      writeFileSync(join(folder, "token"), this.#deps.token);
      chmodSync(join(folder, "token"), secret.defaultMode ?? 0o644);
    } else if (emptyDir === undefined)
      throw new Error(`the volume ${name} is of no kind known here`);
    return folder;
  }

  #security({ securityContext = {}, resources }: Container): string[] {
    const pod = this.#spec.securityContext ?? {};
    const own = { ...pod, ...securityContext };
    const { memory } = resources?.limits ?? {};
    return [
      `--user=${String(own.runAsUser)}:${String(own.runAsGroup ?? 0)}`,
      "--passwd=false",
      ...(pod.fsGroup === undefined ? [] : [`--group-add=${String(pod.fsGroup)}`]),
      ...(own.capabilities?.drop ?? []).map((each) => `--cap-drop=${each}`),
      ...(own.readOnlyRootFilesystem === true ? ["--read-only", "--read-only-tmpfs=false"] : []),
      ...(own.allowPrivilegeEscalation === false ? ["--security-opt=no-new-privileges"] : []),
      ...(memory === undefined ? [] : [`--memory=${memory.replace(/i$/, "").toLowerCase()}`]),
    ];
  }

  /** What has no value is the pod's uid: the one field that these manifests refer to. */
  #environment({ env = [] }: Container): string[] {
    return env.map(({ name, value }) => `--env=${name}=${value ?? this.#uid}`);
  }

  #mounts({ volumeMounts = [] }: Container): string[] {
    const log = join(tempFolder(), "log");
    writeFileSync(log, "");
    chmodSync(log, 0o666);
    return [
      `--volume=${log}:/dev/termination-log`,
      ...volumeMounts.map(({ name, mountPath, readOnly }) => {
        return `--volume=${this.#sources.get(name) ?? ""}:${mountPath}${readOnly === true ? ":ro" : ""}`;
      }),
    ];
  }
}

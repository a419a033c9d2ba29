import { randomUUID } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { StampedStep } from "../../../contract/wire.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { podman, run, type Ran } from "./engine.ts";
import { imageOf } from "./images.ts";
import { makeVolume } from "./volume.ts";

export interface PodOptions {
  readonly stamped: StampedStep;
  readonly cpUrl: string;
  readonly agentImage: string;
  readonly agentUid?: number;
  readonly sidecarUid?: number;
  readonly fsGroup?: number;
  readonly sidecarEnv?: Readonly<Record<string, string>>;
  /** A volume that prefill fills with the kit, for images that have none. */
  readonly kitVolume?: boolean;
}

export interface SidecarEnd {
  readonly code: number;
  readonly log: readonly Readonly<Record<string, unknown>>[];
  /** What the kubelet would show of it. */
  readonly lastWord: string;
}

/**
 * One pod's containers, in the order of a native sidecar: prefill to its end, the sidecar, the agent, SIGTERM
 * to the sidecar after the agent has ended. Roots are read-only, nothing is mounted but what manifests mount.
 */
export class Pod {
  readonly volume: string;
  readonly #options: PodOptions;
  readonly #name = `wfvar-${randomUUID()}`;
  readonly #kit: string | undefined;
  readonly #secret = tempFolder();
  readonly #terminationLog = join(tempFolder(), "log");

  constructor(options: PodOptions) {
    this.#options = options;
    this.volume = makeVolume(options.fsGroup);
    this.#kit = options.kitVolume === true ? makeVolume(options.fsGroup) : undefined;
    chmodSync(this.#secret, 0o755);
    writeFileSync(join(this.#secret, "token"), options.stamped.token);
    writeFileSync(this.#terminationLog, "");
    chmodSync(this.#terminationLog, 0o666);
    onTestFinished(async () => {
      for (const name of [this.agentName, this.sidecarName, this.prefillName]) {
        await podman("rm", "--force", "--ignore", "--time", "0", name);
      }
    });
  }

  get prefillName(): string {
    return `${this.#name}-prefill`;
  }

  get sidecarName(): string {
    return `${this.#name}-sidecar`;
  }

  get agentName(): string {
    return `${this.#name}-agent`;
  }

  /** Where the step's own values are, on the machine. */
  get ownFolder(): string {
    return join(this.volume, this.#options.stamped.step);
  }

  /** Prefill to its end, then the sidecar. */
  async start(): Promise<void> {
    const kit = this.#kit === undefined ? [] : ["--volume", `${this.#kit}:/kit`];
    const command = this.#kit === undefined ? [] : ["--install-kit", "/kit"];
    const { code, stderr } = await run(
      "podman",
      "run",
      `--name=${this.prefillName}`,
      ...this.#sidecarFlags(),
      ...kit,
      imageOf.sidecar,
      "prefill",
      ...command,
    );
    if (code !== 0) throw new Error(`prefill: ${String(code)}\n${stderr}`);
    await podman(
      "run",
      "--detach",
      `--name=${this.sidecarName}`,
      ...this.#sidecarFlags(),
      "--env=WFVAR_LINGER=true",
      imageOf.sidecar,
      "pack",
    );
  }

  /** The agent to its end, through its image's own entrypoint. */
  async runAgent(script: string, ...flags: readonly string[]): Promise<Ran> {
    return run(
      "podman",
      "run",
      "--name",
      this.agentName,
      ...flags,
      ...this.#agentFlags(),
      ...shell(script),
    );
  }

  async startAgent(script: string): Promise<void> {
    const name = ["--name", this.agentName];
    await podman("run", "--detach", ...name, ...this.#agentFlags(), ...shell(script));
  }

  /** SIGTERM, as when the last main container has ended; resolves at its exit. */
  async endSidecar(): Promise<SidecarEnd> {
    await podman("kill", "--signal", "TERM", this.sidecarName);
    const code = Number(await podman("wait", this.sidecarName));
    const { stderr } = await run("podman", "logs", this.sidecarName);
    const lines = stderr.trim().split("\n");
    return {
      code,
      log: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
      lastWord: readFileSync(this.#terminationLog, "utf8"),
    };
  }

  #sidecarFlags(): string[] {
    const { stamped, cpUrl, sidecarUid = 1000, sidecarEnv } = this.#options;
    const env = {
      ...stamped.env,
      WFVAR_CP_URL: cpUrl,
      WFVAR_TOKEN_FILE: "/var/run/secrets/wfvar/token",
      WFVAR_INSTANCE: this.#name,
      ...sidecarEnv,
    };
    return [
      ...this.#restricted(sidecarUid),
      "--network=host",
      `--volume=${this.#secret}:/var/run/secrets/wfvar:ro`,
      `--volume=${this.#terminationLog}:/dev/termination-log`,
      ...Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ];
  }

  #agentFlags(): string[] {
    const { stamped, agentImage, agentUid = 1000 } = this.#options;
    const kit = this.#kit === undefined ? [] : ["--volume", `${this.#kit}:/opt/agent:ro`];
    const entrypoint = ["/opt/agent/bin/tini", "--", "/opt/agent/bin/entrypoint", "--"];
    return [
      ...this.#restricted(agentUid),
      "--network=none",
      "--tmpfs=/tmp",
      ...kit,
      ...(kit.length > 0 ? ["--entrypoint", JSON.stringify(entrypoint)] : []),
      "--env=WORKFLOW_VARIABLES_ROOT=/variables",
      `--env=WORKFLOW_VARIABLES_SELF=/variables/${stamped.step}`,
      agentImage,
    ];
  }

  /** The restricted profile of Pod Security, as far as podman has words for it. */
  #restricted(uid: number): string[] {
    const { fsGroup } = this.#options;
    return [
      // podman would give the uid a name in /etc.
      `--user=${String(uid)}:${String(uid)}`,
      "--passwd=false",
      "--cap-drop=ALL",
      ...(fsGroup === undefined ? [] : ["--group-add", String(fsGroup)]),
      "--read-only",
      "--read-only-tmpfs=false",
      "--security-opt=no-new-privileges",
      `--volume=${this.volume}:/variables`,
    ];
  }
}

function shell(script: string): string[] {
  return ["sh", "-c", script];
}

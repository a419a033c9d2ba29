import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { dist } from "./dist.ts";
import { tempFolder } from "./temp-folder.ts";

export interface PodContainer {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly restartPolicy?: string;
}

/** Does what matters here, and starts the command behind its options. */
const tini = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n';

/** A kit as the sidecar's image has it. */
function makeKit(): string {
  const kit = join(tempFolder(), "kit");
  cpSync(join(dist, "agent"), kit, { recursive: true });
  writeFileSync(join(kit, "bin/tini"), tini);
  chmodSync(join(kit, "bin/tini"), 0o755);
  return kit;
}

/** The kubelet's part: what the pod mounts are folders here, and its image is `dist/`. */
export class Kubelet {
  readonly #mounts: ReadonlyMap<string, string>;
  readonly #podUid = randomUUID();
  readonly #kit = makeKit();

  constructor(token: string) {
    const folder = tempFolder();
    this.#mounts = new Map(
      ["/variables", "/opt/agent", "/var/run/secrets/wfvar"].map((path) => [path, folder + path]),
    );
    for (const mount of this.#mounts.values()) mkdirSync(mount, { recursive: true });
    writeFileSync(this.#at("/var/run/secrets/wfvar/token"), token);
  }

  start({ command, args = [], env }: PodContainer): ChildProcess {
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

export async function exitOf(child: ChildProcess): Promise<unknown> {
  if (child.exitCode === null) await once(child, "exit");
  return child.exitCode;
}

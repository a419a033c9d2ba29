import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { version } from "../../../contract/version.ts";
import { dist } from "../../support/dist.ts";
import { cache, installEngine, podman, run } from "./engine.ts";

/** Every image that the project builds, by its target in docker/Dockerfile. */
export const imageOf = {
  "agent-kit": `localhost/wfvar-agent-kit:${version}`,
  "agent-kit-runtime": `localhost/wfvar-agent-kit-runtime:${version}`,
  "agent-node": `localhost/wfvar-agent-node:${version}`,
  "agent-python": `localhost/wfvar-agent-python:${version}`,
  "service-base": "localhost/wfvar-service-base",
  sidecar: `localhost/wfvar-sidecar:${version}`,
  controlplane: `localhost/wfvar-cp:${version}`,
} as const;

export type Target = keyof typeof imageOf;

export const targets = Object.keys(imageOf) as readonly Target[];

/** What stands in for public base images: with Node, with Python, with a static busybox alone. */
export const baseImages = {
  node: "localhost/base-node",
  python: "localhost/base-python",
  bare: "localhost/base-bare",
} as const;

/** In seconds since the epoch, as `SOURCE_DATE_EPOCH` is. */
const sourceDate = "1700000000";

const debianPackages =
  "bash,coreutils,dash,findutils,grep,libc-bin,libstdc++6,mawk,python3,sed,tini";

const bases = join(cache, "bases");

/** Builds all of them, unless they are there and what they are made of has not changed. */
export async function buildImages(): Promise<void> {
  installEngine();
  // What a run that was killed has left.
  await podman("rm", "--all", "--force", "--time", "0");
  const stamp = join(cache, "built");
  const fingerprint = hashInputs();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint) return;
  makeBaseContext();
  for (const [base, tag] of Object.entries(baseImages)) {
    await build("--layers", "--target", base, "-t", tag, bases);
  }
  for (const target of targets) {
    await buildTarget(target, imageOf[target], resolve("."), "--layers");
  }
  writeFileSync(stamp, fingerprint);
}

/** `context` is a checkout with its dist/. */
export async function buildTarget(
  target: Target,
  tag: string,
  context: string,
  ...flags: readonly string[]
): Promise<void> {
  const dockerfile = join(context, "docker", "Dockerfile");
  const standIns = [`NODE_IMAGE=${baseImages.node}`, `AGENT_PYTHON_IMAGE=${baseImages.python}`];
  const args = [...standIns.flatMap((each) => ["--build-arg", each]), "--timestamp", sourceDate];
  await build(...flags, ...args, "-f", dockerfile, "--target", target, "-t", tag, context);
}

/** An agent's image after a Dockerfile's text, on another base than it names. */
export async function buildAgent(text: string, base: string, tag: string): Promise<void> {
  const context = join(cache, "agent");
  mkdirSync(context, { recursive: true });
  const dockerfile = join(context, "Dockerfile");
  writeFileSync(dockerfile, text);
  await build("--layers", "--from", base, "-f", dockerfile, "-t", tag, context);
}

async function build(...args: readonly string[]): Promise<void> {
  // Without namespaces: these tests may run in a container themselves.
  const { code, stdout, stderr } = await run("buildah", "bud", "--isolation", "chroot", ...args);
  if (code !== 0) throw new Error(`buildah bud ${args.join(" ")}: ${stdout}\n${stderr}`);
}

function makeBaseContext(): void {
  mkdirSync(bases, { recursive: true });
  copyFileSync(join(import.meta.dirname, "bases", "Dockerfile"), join(bases, "Dockerfile"));
  copyFileSync(process.execPath, join(bases, "node"));
  copyFileSync("/bin/busybox", join(bases, "busybox"));
  const tar = join(bases, "debian.tar");
  if (existsSync(tar)) return;
  const release = readFileSync("/etc/os-release", "utf8");
  const [, suite = "stable"] = /^VERSION_CODENAME=(.*)$/m.exec(release) ?? [];
  // Unpacked and not configured: a tenth of the time.
  const options = ["--variant=extract", "--format=tar", `--include=${debianPackages}`];
  execFileSync("mmdebstrap", [...options, suite, `${tar}.part`], { stdio: "ignore" });
  renameSync(`${tar}.part`, tar);
}

function hashInputs(): string {
  const hash = createHash("sha256");
  hash.update(process.version);
  const inputs = ["LICENSE", ".dockerignore", "docker", dist, join(import.meta.dirname, "bases")];
  for (const input of inputs) {
    const below = statSync(input).isDirectory() ? readdirSync(input, { recursive: true }) : [""];
    for (const name of below.map(String).toSorted()) {
      const file = join(input, name);
      if (!statSync(file).isFile()) continue;
      hash.update(`${name}\0`);
      hash.update(readFileSync(file));
    }
  }
  return hash.digest("hex");
}

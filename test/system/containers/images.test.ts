import { execFileSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { version } from "../../../contract/version.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { podman, run } from "./engine.ts";
import {
  baseImages,
  buildAgent,
  buildImages,
  buildTarget,
  imageOf,
  type Target,
} from "./images.ts";

beforeAll(buildImages);

const MiB = 1024 ** 2;
const services = ["sidecar", "controlplane"] as const;

interface Inspected {
  readonly Size: number;
  readonly User: string;
  readonly RootFS: { readonly Layers: readonly string[] };
  readonly Config: {
    readonly Entrypoint?: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
  };
}

async function inspect(image: string): Promise<Inspected> {
  const [found] = JSON.parse(await podman("image", "inspect", image)) as [Inspected];
  return found;
}

describe("sizes", () => {
  it("the kit is at most 2 MiB", async () => {
    expect((await inspect(imageOf["agent-kit"])).Size).toBeLessThanOrEqual(2 * MiB);
  });

  it.each(services)("%s adds at most 3 MiB to its base", async (service) => {
    const base = await inspect(imageOf["service-base"]);
    expect((await inspect(imageOf[service])).Size - base.Size).toBeLessThanOrEqual(3 * MiB);
  });
});

describe("a service's image", () => {
  it.each([
    ["sidecar", "wfvar-sidecar"],
    ["controlplane", "wfvar-cp"],
  ] as const)("%s runs as a numeric user, without a shell, as %s", async (service, command) => {
    const { User, Config } = await inspect(imageOf[service]);
    expect([User, Config.Entrypoint]).toEqual(["65532:65532", [command]]);
    const flags = ["run", "--rm", "--network", "none", "--read-only"];
    expect(await podman(...flags, imageOf[service], "--version")).toBe(version);
    const shell = await run("podman", ...flags, "--entrypoint", "sh", imageOf[service]);
    expect(shell.code).toBe(127);
  });

  it.each(services)("%s shares its base's layers", async (service) => {
    const { RootFS } = await inspect(imageOf["service-base"]);
    const { Layers } = (await inspect(imageOf[service])).RootFS;
    expect(Layers.slice(0, RootFS.Layers.length)).toEqual(RootFS.Layers);
    expect(Layers).toHaveLength(RootFS.Layers.length + 1);
  });
});

it.each([
  ["agent-kit", "wfvar-agent-kit"],
  ["agent-kit-runtime", "wfvar-agent-kit-runtime"],
  ["agent-node", "wfvar-agent-node"],
  ["agent-python", "wfvar-agent-python"],
  ["sidecar", "wfvar-sidecar"],
  ["controlplane", "wfvar-cp"],
] as const)("%s says what it is: %s", async (target, title) => {
  expect((await inspect(imageOf[target])).Config.Labels).toMatchObject({
    "org.opencontainers.image.title": title,
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.licenses": "Apache-2.0",
  });
});

it("the kit holds what agents' images need, and an empty folder for hooks", async () => {
  const flags = ["run", "--rm", "--network", "none", "--entrypoint", "sh"];
  const list =
    "ls -A /opt/agent /opt/agent/bin; ls -A /opt/agent/finalize.d; readlink -f $(command -v wfvar)";
  const listed = await podman(...flags, imageOf["agent-node"], "-c", list);
  expect(listed.split("\n").filter(Boolean)).toEqual([
    "/opt/agent:",
    "LICENSE",
    "bin",
    "finalize.d",
    "lib",
    "licenses",
    "variables",
    "/opt/agent/bin:",
    "entrypoint",
    "tini",
    "wfvar",
    "/opt/agent/bin/wfvar",
  ]);
});

it("a second build, from another folder with other dates and modes, has the same layers", async () => {
  const context = tempFolder();
  for (const name of ["LICENSE", ".dockerignore", "docker", "dist"]) {
    cpSync(name, join(context, name), { recursive: true });
  }
  execFileSync("chmod", ["-R", "u+rwX,go-rwx", context]);
  const again: readonly Target[] = ["agent-kit-runtime", "sidecar", "controlplane"];
  for (const target of again) {
    const tag = `localhost/again-${target}`;
    await buildTarget(target, tag, context, "--no-cache");
    expect((await inspect(tag)).RootFS).toEqual((await inspect(imageOf[target])).RootFS);
  }
});

it("the Dockerfile in docs/images.md makes an agent's image of any base", async () => {
  const docs = readFileSync("docs/images.md", "utf8");
  const [, text = ""] = /```dockerfile\n(FROM [^`]*)```/.exec(docs) ?? [];
  await buildAgent(text, baseImages.node, "localhost/agent-of-the-docs");
  const { Config, User } = await inspect("localhost/agent-of-the-docs");
  const { Config: example, User: user } = await inspect(imageOf["agent-node"]);
  expect([Config.Entrypoint, User]).toEqual([example.Entrypoint, user]);
  const flags = ["run", "--rm", "--network", "none", "--entrypoint", "wfvar"];
  expect(await podman(...flags, "localhost/agent-of-the-docs", "--version")).toContain(version);
});

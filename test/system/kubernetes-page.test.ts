import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { parseConfig } from "../../sidecar/config.ts";
import { envOf, parseResources, podSpecsIn } from "../docker/manifests.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { dist } from "../support/dist.ts";
import { installKubectl } from "../support/install-kubectl.ts";
import { tempFolder } from "../support/temp-folder.ts";

beforeAll(() => {
  if (spawnSync("jq", ["--version"]).error === undefined) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", ["update", "-qq"], { stdio: "ignore" });
  execFileSync("apt-get", ["install", "-y", "-qq", "jq"], { stdio: "ignore", env });
});

/**
 * A kubectl without a cluster: what it is given to create is made by a real one and kept, what it is given to apply
 * is kept, and the rest is taken as done.
 */
const kubectl = `#!/bin/sh
case " $* " in
  *" create secret "*) exec "$REAL_KUBECTL" "$@" --dry-run=client --output yaml > "$KEPT/secret.yaml" ;;
  *" apply "*) exec cat > "$KEPT/applied.yaml" ;;
esac
`;

it("the page's own commands make the Secret and the Job of a stamped step", async () => {
  const page = readFileSync("docs/kubernetes.md", "utf8");
  const [, script = ""] = /\*\*Per step:\*\*[^]*?```sh\n([^]*?)```/.exec(page) ?? [];
  const cp = await startControlPlane();
  const folder = tempFolder();
  const bin = join(folder, "bin");
  for (const name of ["bin", "secrets", "kept"]) mkdirSync(join(folder, name));
  const sidecar = `#!/bin/sh\nexec node ${join(dist, "sidecar", "main.mjs")} "$@"\n`;
  writeFileSync(join(bin, "kubectl"), kubectl, { mode: 0o755 });
  writeFileSync(join(bin, "wfvar-sidecar"), sidecar, { mode: 0o755 });
  writeFileSync(join(folder, "secrets", "operator-token"), cp.operatorToken);

  const here = script
    .replaceAll("http://127.0.0.1:8410", cp.operatorUrl)
    .replaceAll("docker/kubernetes/", `${resolve("docker/kubernetes")}/`);
  // In a process of its own, while the control plane is in this one.
  const child = spawn("bash", ["-euo", "pipefail", "-c", here], {
    cwd: folder,
    env: {
      PATH: [bin, process.env["PATH"]].join(delimiter),
      REAL_KUBECTL: installKubectl(),
      KEPT: join(folder, "kept"),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.resume();
  expect(await once(child, "exit")).toEqual([0, null]);

  const kept = (name: string) => parseResources(readFileSync(join(folder, "kept", name), "utf8"));
  const { token } = JSON.parse(readFileSync(join(folder, "stamp.json"), "utf8")) as {
    token: string;
  };
  const encoded = Buffer.from(token).toString("base64");
  expect(kept("secret.yaml")).toMatchObject([
    { kind: "Secret", metadata: { name: "judge-wfvar-token" }, data: { token: encoded } },
  ]);
  const [pod] = podSpecsIn(kept("applied.yaml"));
  expect(pod?.volumes).toContainEqual(
    expect.objectContaining({
      secret: expect.objectContaining({ secretName: "judge-wfvar-token" }),
    }),
  );
  const [prefill] = pod?.initContainers ?? [];
  if (prefill === undefined) throw new Error("no prefill");
  expect(parseConfig([], envOf(prefill, { WFVAR_INSTANCE: "a-pods-uid" }))).toMatchObject({
    config: { target: { run: "demo-1", attempt: 1 }, allowHttp: true },
  });
});

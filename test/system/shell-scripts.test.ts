import { execFileSync, spawnSync } from "node:child_process";
import { beforeAll, expect, it } from "vitest";

beforeAll(() => {
  if (spawnSync("shellcheck", ["--version"]).error === undefined) return;
  const options = {
    stdio: "ignore",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  } as const;
  execFileSync("apt-get", ["update", "-qq"], options);
  execFileSync(
    "apt-get",
    ["install", "-y", "-qq", "--no-install-recommends", "shellcheck"],
    options,
  );
});

it.each([
  ".ci/run",
  "docker/kubernetes/kind-test.sh",
  "entrypoint/bin/entrypoint",
  "helper/bin/wfvar",
])("%s has nothing that shellcheck finds", (file) => {
  const { status, stdout } = spawnSync("shellcheck", [file], { encoding: "utf8" });
  expect([status, stdout]).toEqual([0, ""]);
});

import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startControlPlane } from "../support/control-plane.ts";
import { podEnv, sidecarSays } from "../support/sidecar.ts";
import { tempFolder } from "../support/temp-folder.ts";

function pod(cpUrl: string, root = tempFolder()): Record<string, string> {
  return podEnv({ token: "t0ken", env: { WFVAR_RUN: "r", WFVAR_STEP: "judge" } }, root, cpUrl);
}

async function answeringWith(status: number): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${String(address.port)}`;
}

describe("wfvar-sidecar doctor", () => {
  it("finds nothing wrong in a pod as it should be, and claims no attempt", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const stamped = await cp.stamp(run, { step: "judge" });
    const { code, stdout } = await sidecarSays(
      ["doctor"],
      podEnv(stamped, tempFolder(), cp.stepUrl),
    );
    expect(stdout).not.toMatch(/PROBLEM/);
    expect(stdout).toMatch(/^ok +control plane +answers at http.*; the token was not tried$/m);
    expect(code).toBe(0);
    const { json } = await cp.operate("GET", `/v1/runs/${run}/steps`);
    expect(json["steps"]).toMatchObject([{ step: "judge", status: "stamped" }]);
  });

  it("knows the operator listener from the step listener", async () => {
    const cp = await startControlPlane();
    const { code, stdout } = await sidecarSays(["doctor"], pod(cp.operatorUrl));
    expect([code, stdout]).toEqual([
      12,
      expect.stringMatching(
        /^PROBLEM +control plane .* answered 404 where 401 was due; is WFVAR_CP_URL the step/m,
      ),
    ]);
  });

  it.each<{ name: string; change: (env: Record<string, string>) => unknown; says: RegExp }>([
    {
      name: "an address where nothing listens",
      change: (env) => (env["WFVAR_CP_URL"] = "http://127.0.0.1:1"),
      says: /^PROBLEM +control plane .*ECONNREFUSED.*check WFVAR_CP_URL and its port/m,
    },
    {
      name: "a token file that is missing",
      change: (env) => rmSync(env["WFVAR_TOKEN_FILE"] ?? ""),
      says: /^PROBLEM +token file .*ENOENT/m,
    },
    {
      name: "a token file that is empty",
      change: (env) => writeFileSync(env["WFVAR_TOKEN_FILE"] ?? "", "\n"),
      says: /^PROBLEM +token file .*empty/m,
    },
    {
      name: "a volume that is not there",
      change: (env) => (env["WORKFLOW_VARIABLES_ROOT"] = join(tempFolder(), "nope")),
      says: /^PROBLEM +volume /m,
    },
  ])("names $name, and what to mend", async ({ change, says }) => {
    const env = pod(await answeringWith(401));
    change(env);
    const { code, stdout } = await sidecarSays(["doctor"], env);
    expect([code, stdout]).toEqual([12, expect.stringMatching(says)]);
    expect(stdout.match(/PROBLEM/g)).toHaveLength(1);
    expect(stdout).not.toMatch(/t0ken/);
  });
});

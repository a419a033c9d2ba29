import { randomUUID } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { StampedStep } from "../../../contract/wire.ts";
import { freePort } from "../../support/free-port.ts";
import { podman, run } from "./engine.ts";
import { imageOf } from "./images.ts";

/** The control plane in its own image, as deployed: a user without name or rights, a root that is read-only. */
export interface ServedImage extends AsyncDisposable {
  readonly container: string;
  readonly stepUrl: string;
  readonly createRun: (inputs?: Record<string, string>) => Promise<string>;
  readonly stamp: (run: string, step: string, dependsOn?: string[]) => Promise<StampedStep>;
  /** The newest attempt of a step, as the API shows it. */
  readonly step: (run: string, step: string) => Promise<Record<string, unknown>>;
  readonly keys: (run: string, prefix: string) => Promise<string[]>;
  readonly value: (run: string, key: string) => Promise<Buffer>;
}

const uid = 65_532;

export async function serveImage(): Promise<ServedImage> {
  const data = mkdtempSync(join(tmpdir(), "wfvar-cp-"));
  chownSync(data, uid, uid);
  const container = `wfvar-cp-${randomUUID()}`;
  const [steps, operators] = [await freePort(), await freePort()].map(
    (port) => `127.0.0.1:${String(port)}`,
  );
  await podman(
    "run",
    "--detach",
    `--name=${container}`,
    "--network=host",
    "--read-only",
    "--read-only-tmpfs=false",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    `--volume=${data}:/var/lib/wfvar`,
    `--env=WFVAR_STEP_LISTEN=${String(steps)}`,
    `--env=WFVAR_OPERATOR_LISTEN=${String(operators)}`,
    imageOf.controlplane,
  );
  const tokenFile = join(data, "operator-token");
  while (!existsSync(tokenFile) || !(await isReady(String(operators)))) {
    if ((await podman("inspect", "--format", "{{.State.Running}}", container)) !== "true") {
      throw new Error((await run("podman", "logs", container)).stderr);
    }
    await delay(50);
  }
  const token = readFileSync(tokenFile, "utf8").trim();

  const call = async (method: string, path: string, body?: object): Promise<Response> => {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const response = await fetch(`http://${String(operators)}/v1/runs${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...json },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response;
  };
  const rows = async (path: string, name: string): Promise<Record<string, unknown>[]> => {
    const answer = (await (await call("GET", path)).json()) as Record<string, unknown>;
    return answer[name] as Record<string, unknown>[];
  };
  return {
    container,
    stepUrl: `http://${String(steps)}`,
    createRun: async (inputs = {}) => {
      const made = await call("POST", "", { template: "containers", inputs });
      return String(((await made.json()) as Record<string, unknown>)["run"]);
    },
    stamp: async (runId, step, dependsOn = []) => {
      const body = { step, depends_on: dependsOn };
      return (await (await call("POST", `/${runId}/steps`, body)).json()) as StampedStep;
    },
    step: async (runId, step) => {
      const found = (await rows(`/${runId}/steps`, "steps")).find((each) => each["step"] === step);
      return found ?? {};
    },
    keys: async (runId, prefix) =>
      (await rows(`/${runId}/variables?prefix=${prefix}`, "variables")).map(({ key }) =>
        String(key),
      ),
    value: async (runId, key) =>
      Buffer.from(await (await call("GET", `/${runId}/variables/${key}`)).arrayBuffer()),
    [Symbol.asyncDispose]: async () => {
      await podman("rm", "--force", "--time", "5", container);
      rmSync(data, { recursive: true, force: true });
    },
  };
}

async function isReady(listener: string): Promise<boolean> {
  try {
    return (await fetch(`http://${listener}/readyz`)).ok;
  } catch {
    return false;
  }
}

import { readFileSync } from "node:fs";
import { pino, type Logger } from "pino";
import type { FastifyInstance } from "fastify";
import { expect, onTestFinished } from "vitest";
import { defaultLimits, type Limits } from "../../contract/limits.ts";
import type { StampedStep } from "../../contract/wire.ts";
import { anyProblems } from "../../controlplane/api/openapi.ts";
import { toApiError } from "../../controlplane/api/problem.ts";
import { openControlPlane } from "../../controlplane/control-plane.ts";
import type { Store } from "../../controlplane/store/store.ts";
import { tempFolder } from "./temp-folder.ts";

/** A control plane in this process, on real sockets over a real database. */
export interface TestControlPlane {
  readonly stepUrl: string;
  readonly operatorUrl: string;
  readonly operatorToken: string;
  /** Holds the database and the key of step tokens. */
  readonly dataDir: string;
  /** The store underneath. */
  readonly store: Store;
  /** An operator call; gives status and JSON. */
  readonly operate: (
    method: string,
    path: string,
    body?: unknown,
  ) => Promise<{ status: number; json: Record<string, unknown> }>;
  readonly createRun: (body?: object) => Promise<string>;
  readonly stamp: (run: string, body: object) => Promise<StampedStep>;
  /** Closes the database underneath: every call that needs it then fails. */
  readonly breakStore: () => Promise<void>;
}

export async function startControlPlane(
  limits: Partial<Limits> = {},
  log: Logger = pino({ level: "silent" }),
): Promise<TestControlPlane> {
  const dataDir = tempFolder();
  const cp = await openControlPlane({
    dataDir,
    limits: { ...defaultLimits, ...limits },
    stepDeadlineMs: 3_600_000,
    tokenGraceMs: 3_600_000,
    packMemoryBytes: 256 * 1024 ** 2,
    log,
  });
  const undescribed = watchProblems([cp.stepApi, cp.operatorApi]);
  let broken = false;
  onTestFinished(async () => {
    if (broken) await Promise.all([cp.stepApi.close(), cp.operatorApi.close()]);
    else await cp[Symbol.asyncDispose]();
    expect(undescribed).toEqual([]);
  });
  const stepUrl = await cp.stepApi.listen({ host: "127.0.0.1", port: 0 });
  const operatorUrl = await cp.operatorApi.listen({ host: "127.0.0.1", port: 0 });
  const operatorToken = readFileSync(cp.operatorTokenFile, "utf8").trim();

  const operate: TestControlPlane["operate"] = async (method, path, body) => {
    const response = await fetch(`${operatorUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${operatorToken}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  return {
    stepUrl,
    operatorUrl,
    operatorToken,
    dataDir,
    store: cp.store,
    breakStore: async () => {
      broken = true;
      await cp.store.close();
    },
    operate,
    createRun: async (body = { template: "test" }) => {
      const { json } = await operate("POST", "/v1/runs", body);
      return String(json["run"]);
    },
    stamp: async (run, body) => {
      const { status, json } = await operate("POST", `/v1/runs/${run}/steps`, body);
      if (status !== 201) throw new Error(`stamp: ${String(status)} ${JSON.stringify(json)}`);
      return json as unknown as StampedStep;
    },
  };
}

/** Collects what the calls refuse with and the OpenAPI document does not know of. */
function watchProblems(servers: readonly FastifyInstance[]): string[] {
  const undescribed: string[] = [];
  for (const server of servers) {
    server.addHook("onError", async ({ method, routeOptions }, _, error) => {
      const { url, config } = routeOptions;
      const described: readonly string[] = [...anyProblems, ...(config.problems ?? [])];
      const { code } = toApiError(error);
      if (!described.includes(code)) undescribed.push(`${method} ${url ?? ""}: ${code}`);
    });
  }
  return undescribed;
}

import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Limits } from "../contract/limits.ts";
import { createOperatorApi } from "./api/operator-api.ts";
import { createStepApi } from "./api/step-api.ts";
import { makeFolder } from "./make-folder.ts";
import { openOperatorToken, type OperatorToken } from "./operator-token.ts";
import { openStepTokens } from "./step-tokens.ts";
import { SqliteStore } from "./store/sqlite-store.ts";
import type { Store } from "./store/store.ts";
import { VariablesService } from "./variables/variables-service.ts";

/** For requests that are under way when the control plane stops. */
const closeMs = 5_000;

export interface ControlPlaneOptions {
  readonly dataDir: string;
  /** Undefined: `operator-token` in the data folder. */
  readonly operatorTokenFile?: string | undefined;
  readonly limits: Limits;
  readonly stepDeadlineMs: number;
  readonly tokenGraceMs: number;
  readonly log: Logger;
}

export interface ControlPlane extends AsyncDisposable {
  readonly service: VariablesService;
  readonly store: Store;
  readonly operator: OperatorToken;
  readonly operatorTokenFile: string;
  /** Neither listens yet. */
  readonly stepApi: FastifyInstance;
  readonly operatorApi: FastifyInstance;
}

/**
 * Opens the data folder, making what is missing, and wires the parts. Disposing finishes what was accepted
 * and closes the store.
 */
export async function openControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { dataDir, limits, stepDeadlineMs, tokenGraceMs, log } = options;
  await makeFolder(dataDir);
  const operatorTokenFile = options.operatorTokenFile ?? join(dataDir, "operator-token");
  const operator = await openOperatorToken(operatorTokenFile);
  const tokens = await openStepTokens(join(dataDir, "step-key.json"));
  const store = new SqliteStore(join(dataDir, "wfvar.db"));
  const service = new VariablesService({
    store,
    tokens,
    now: currentTime,
    limits,
    stepDeadlineMs,
    tokenGraceMs,
  });
  const stepApi = createStepApi({ service, tokens, log });
  const operatorApi = createOperatorApi({ service, store, operator, log });
  return {
    service,
    store,
    operator,
    operatorTokenFile,
    stepApi,
    operatorApi,
    async [Symbol.asyncDispose]() {
      // What is under way has a moment to end; a connection that says nothing would never.
      const servers = [stepApi.server, operatorApi.server];
      const cut = setTimeout(() => servers.forEach((each) => each.closeAllConnections()), closeMs);
      await Promise.all([stepApi.close(), operatorApi.close()]);
      clearTimeout(cut);
      await store.close();
    },
  };
}

function currentTime(): Date {
  return new Date();
}

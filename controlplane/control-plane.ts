import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Limits } from "../contract/limits.ts";
import { Connections } from "./api/connections.ts";
import { createOperatorApi } from "./api/operator-api.ts";
import { createStepApi } from "./api/step-api.ts";
import { placesOf, type Places } from "./config.ts";
import { keepHouse } from "./housekeeping.ts";
import { makeFolder } from "./make-folder.ts";
import { Metrics } from "./metrics.ts";
import { openOperatorToken, type OperatorToken } from "./operator-token.ts";
import { openStepTokens } from "./step-tokens.ts";
import { countingErrors } from "./store/counting-database.ts";
import type { SqlDatabase } from "./store/sql-database.ts";
import { SqliteDatabase } from "./store/sqlite-database.ts";
import { SqlStore } from "./store/sql-store.ts";
import type { Store } from "./store/store.ts";
import { MemoryBudget } from "./variables/memory-budget.ts";
import { VariablesService } from "./variables/variables-service.ts";

/** For requests that are under way when the control plane stops: most of the 30 s that Kubernetes gives a pod. */
export const closeMs = 20_000;
/** How soon after its last answer a connection is ended then. */
const tidyMs = 20;

export interface ControlPlaneOptions extends Places {
  /** Undefined: an SQLite file in the data folder. */
  readonly databaseUrl?: string | undefined;
  readonly limits: Limits;
  readonly stepDeadlineMs: number;
  readonly tokenGraceMs: number;
  readonly packMemoryBytes: number;
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
  /** Leases and retention, until the control plane is disposed. */
  readonly startHousekeeping: (keepMs: number | undefined) => void;
}

/**
 * Opens the data folder, making what is missing, and wires the parts. Disposing finishes what was accepted
 * and closes the store.
 */
export async function openControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { limits, stepDeadlineMs, tokenGraceMs, log } = options;
  const { dataDir, databaseFile, operatorTokenFile, stepKeyFile } = placesOf(options);
  await makeFolder(dataDir);
  const onProblem = (error: unknown): void => log.error({ event: "secret_unusable", err: error });
  const operator = await openOperatorToken(operatorTokenFile, onProblem);
  const tokens = await openStepTokens(stepKeyFile, { now: currentTime, onProblem });
  const database = await openDatabase(databaseFile, options.databaseUrl);
  const store = new SqlStore(countingErrors(database, () => metrics.storeErrors.inc()));
  const memory = new MemoryBudget(options.packMemoryBytes);
  const metrics = new Metrics(
    () => store.countOpenSteps(),
    () => memory.bytes,
  );
  const service = new VariablesService({
    store,
    tokens,
    memory,
    now: currentTime,
    limits,
    stepDeadlineMs,
    tokenGraceMs,
  });
  const stepApi = createStepApi({ service, tokens, metrics, log });
  const operatorApi = createOperatorApi({ service, store, operator, metrics, log, stepApi });
  const connections = [stepApi, operatorApi].map(({ server }) => new Connections(server));
  const closing = new AbortController();
  let housekeeping: Promise<void> | undefined;
  return {
    service,
    store,
    operator,
    operatorTokenFile,
    stepApi,
    operatorApi,
    startHousekeeping: (keepMs) => {
      const deps = { service, store, metrics, now: currentTime, keepMs, log };
      housekeeping = keepHouse(deps, closing.signal);
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      // What is under way has a moment to end; a connection that says nothing would never.
      const cut = setTimeout(() => {
        const numbers = connections.map((each) => each.closeAll());
        log.warn({ event: "connections_cut", connections: numbers.reduce((a, b) => a + b) });
      }, closeMs);
      const tidy = setInterval(() => connections.forEach((each) => each.closeUnused()), tidyMs);
      await Promise.all([stepApi.close(), operatorApi.close(), housekeeping]);
      clearTimeout(cut);
      clearInterval(tidy);
      await store.close();
    },
  };
}

async function openDatabase(file: string, url: string | undefined): Promise<SqlDatabase> {
  if (url === undefined) return new SqliteDatabase(file);
  // Loaded only here: most of what it weighs is PostgreSQL's client.
  const { PostgresDatabase } = await import("./store/postgres-database.ts");
  return PostgresDatabase.open(url);
}

function currentTime(): Date {
  return new Date();
}

import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { ApiError } from "../api-error.ts";
import type { Metrics } from "../metrics.ts";
import type { OperatorToken } from "../operator-token.ts";
import type { Store } from "../store/store.ts";
import type { VariablesService } from "../variables/variables-service.ts";
import { bearerToken } from "./bearer-token.ts";
import { addEventCalls } from "./event-calls.ts";
import { createListener } from "./listener.ts";
import { openApiOf } from "./openapi.ts";
import { addProcessCalls } from "./process-calls.ts";
import { addRunCalls } from "./run-calls.ts";
import { addStepCalls } from "./step-calls.ts";
import { addVariableCalls } from "./variable-calls.ts";

export interface OperatorApiDeps {
  readonly service: VariablesService;
  readonly store: Store;
  readonly operator: OperatorToken;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Its calls are in the OpenAPI document too. */
  readonly stepApi: FastifyInstance;
}

/**
 * The operator listener: everything but the step calls, opened by the operator token alone (API page). What tells of
 * the process itself needs none.
 */
export function createOperatorApi(deps: OperatorApiDeps): FastifyInstance {
  const { service, store, operator, metrics, log, stepApi } = deps;
  const server = createListener(log, { bodyLimit: 64 * 1024 ** 2 });
  const closing = new AbortController();
  server.addHook("preClose", async () => closing.abort());

  void server.register(async (open) => {
    addProcessCalls(open, store, metrics, () => openApiOf(server, stepApi));
  });
  void server.register(async (guarded) => {
    guarded.addHook("onRequest", async (request) => {
      const token = bearerToken(request);
      if (token === undefined || !operator.matches(token)) {
        throw new ApiError("unauthorized", "the operator token is required");
      }
    });
    addRunCalls(guarded, service, store);
    addStepCalls(guarded, service);
    addVariableCalls(guarded, service);
    addEventCalls(guarded, service, store, metrics, closing.signal);
  });
  return server;
}

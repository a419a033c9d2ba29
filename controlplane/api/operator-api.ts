import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import * as z from "zod";
import {
  createRun,
  key,
  runId,
  runView,
  stampedStep,
  stampStep,
  stepView,
  variableView,
} from "../../contract/wire.ts";
import { ApiError } from "../api-error.ts";
import type { Metrics } from "../metrics.ts";
import type { OperatorToken } from "../operator-token.ts";
import type { Store } from "../store/store.ts";
import type { VariablesService } from "../variables/variables-service.ts";
import { streamEvents } from "./event-stream.ts";
import { createListener } from "./listener.ts";
import { viewRun, viewStep, viewValue } from "./views.ts";

const runParams = z.object({ run: runId });
const limit = z.coerce.number().int().min(1).max(1000).default(100);

export interface OperatorApiDeps {
  readonly service: VariablesService;
  readonly store: Store;
  readonly operator: OperatorToken;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/**
 * The operator listener: everything but the step calls, opened by the operator token alone (API page). Health
 * needs none.
 */
export function createOperatorApi({
  service,
  store,
  operator,
  metrics,
  log,
}: OperatorApiDeps): FastifyInstance {
  const server = createListener(log, { bodyLimit: 64 * 1024 ** 2 });

  const closing = new AbortController();
  server.addHook("preClose", async () => closing.abort());

  server.get("/healthz", async () => ({ status: "ok" }));
  server.get("/readyz", async () => {
    await store.ping().catch(() => {
      throw new ApiError("unavailable", "the store does not answer");
    });
    return { status: "ok" };
  });
  server.get("/metrics", async (_, reply) => {
    return reply.type(metrics.contentType).send(await metrics.read());
  });

  void server.register(async (guarded) => {
    guarded.addHook("onRequest", async (request) => {
      const [, token] = /^Bearer ([\x21-\x7e]+)$/.exec(request.headers.authorization ?? "") ?? [];
      if (token === undefined || !operator.matches(token)) {
        throw new ApiError("unauthorized", "the operator token is required");
      }
    });
    addCalls(guarded, service, store, closing.signal);
  });
  return server;
}

function addCalls(
  server: FastifyInstance,
  service: VariablesService,
  store: Store,
  closing: AbortSignal,
): void {
  const api = server.withTypeProvider<ZodTypeProvider>();

  api.post(
    "/v1/runs",
    { schema: { body: createRun, response: { 200: runView, 201: runView } } },
    async (request, reply) => {
      const { run, created } = await service.createRun(request.body);
      return reply.status(created ? 201 : 200).send(viewRun(run));
    },
  );

  api.get(
    "/v1/runs",
    {
      schema: {
        querystring: z.object({ limit, cursor: runId.optional() }),
        response: { 200: z.object({ runs: z.array(runView), next: runId.nullable() }) },
      },
    },
    async ({ query }) => {
      const runs = await store.listRuns({ limit: query.limit, after: query.cursor });
      if (runs === undefined) throw new ApiError("invalid_request", "cursor: no such run any more");
      return { runs: runs.map(viewRun), next: nextOf(runs, query.limit, ({ run }) => run) };
    },
  );

  api.get(
    "/v1/runs/:run",
    { schema: { params: runParams, response: { 200: runView } } },
    async ({ params }) => viewRun(await service.getRun(params.run)),
  );

  api.post(
    "/v1/runs/:run/steps",
    {
      schema: {
        params: runParams,
        body: stampStep,
        response: { 200: stampedStep, 201: stampedStep },
      },
    },
    async ({ params: { run }, body }, reply) => {
      const { step, token, env, created } = await service.stampStep(run, body);
      const { attempt, deadline } = step;
      return reply
        .status(created ? 201 : 200)
        .send({ run, step: step.step, attempt, deadline, token, env: { ...env } });
    },
  );

  api.get(
    "/v1/runs/:run/steps",
    {
      schema: {
        params: runParams,
        querystring: z.object({ limit, cursor: z.coerce.number().int().min(0).optional() }),
        response: { 200: z.object({ steps: z.array(stepView), next: z.string().nullable() }) },
      },
    },
    async ({ params: { run }, query }) => {
      const steps = await service.listSteps(run, { limit: query.limit, after: query.cursor });
      return {
        steps: steps.map(viewStep),
        next: nextOf(steps, query.limit, ({ seq }) => String(seq)),
      };
    },
  );

  api.get(
    "/v1/runs/:run/variables",
    {
      schema: {
        params: runParams,
        querystring: z.object({
          limit,
          cursor: key.optional(),
          prefix: z.string().max(1024).default(""),
        }),
        response: {
          200: z.object({ variables: z.array(variableView), next: z.string().nullable() }),
        },
      },
    },
    async ({ params: { run }, query }) => {
      const page = { prefix: query.prefix, limit: query.limit, after: query.cursor };
      const values = await service.listValues(run, page);
      return {
        variables: values.map(viewValue),
        next: nextOf(values, query.limit, (value) => value.key),
      };
    },
  );

  api.get(
    "/v1/runs/:run/variables/:key",
    { schema: { params: z.object({ run: runId, key: z.string().max(1024) }) } },
    async ({ params }, reply) => {
      const { value, bytes } = await service.getValue(params.run, params.key);
      return reply.type("application/octet-stream").header("etag", `"${value.sha256}"`).send(bytes);
    },
  );

  api.get(
    "/v1/runs/:run/events",
    {
      schema: {
        params: runParams,
        headers: z.object({ "last-event-id": z.coerce.number().int().min(0).default(0) }),
      },
    },
    async ({ params: { run }, headers }, reply) => {
      await service.getRun(run);
      const events = streamEvents(store, run, headers["last-event-id"], closing);
      return reply.type("text/event-stream").send(Readable.from(events, { objectMode: false }));
    },
  );
}

/** The cursor of the page after; null where this one is the last. */
function nextOf<T>(page: readonly T[], size: number, cursorOf: (last: T) => string): string | null {
  const last = page.length < size ? undefined : page.at(-1);
  return last === undefined ? null : cursorOf(last);
}

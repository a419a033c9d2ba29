import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import { z } from "zod";
import {
  createRun,
  runId,
  runView,
  stampedStep,
  stampStep,
  stepView,
  variableView,
} from "../../contract/wire.ts";
import { ApiError } from "../api-error.ts";
import type { OperatorToken } from "../operator-token.ts";
import type { Store } from "../store/store.ts";
import type { VariablesService } from "../variables/variables-service.ts";
import { createListener } from "./listener.ts";
import { viewRun, viewStep, viewValue } from "./views.ts";

const pageSize = 100;
const runParams = z.object({ run: runId });
const page = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(pageSize),
  cursor: runId.optional(),
});

export interface OperatorApiDeps {
  readonly service: VariablesService;
  readonly store: Store;
  readonly operator: OperatorToken;
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
  log,
}: OperatorApiDeps): FastifyInstance {
  const server = createListener(log, { bodyLimit: 64 * 1024 ** 2 });

  server.get("/healthz", async () => ({ status: "ok" }));
  server.get("/readyz", async () => {
    await store.ping().catch(() => {
      throw new ApiError("unavailable", "the store does not answer");
    });
    return { status: "ok" };
  });

  void server.register(async (guarded) => {
    guarded.addHook("onRequest", async (request) => {
      const [, token] = /^Bearer ([\x21-\x7e]+)$/.exec(request.headers.authorization ?? "") ?? [];
      if (token === undefined || !operator.matches(token)) {
        throw new ApiError("unauthorized", "the operator token is required");
      }
    });
    addCalls(guarded, service, store);
  });
  return server;
}

function addCalls(server: FastifyInstance, service: VariablesService, store: Store): void {
  const api = server.withTypeProvider<ZodTypeProvider>();

  api.post(
    "/v1/runs",
    { schema: { body: createRun, response: { 200: runView, 201: runView } } },
    async (request, reply) => {
      const { run, created } = await service.createRun(request.body);
      return reply.status(created ? 201 : 200).send(viewRun(run));
    },
  );

  const runPage = z.object({ runs: z.array(runView), next: runId.nullable() });
  api.get(
    "/v1/runs",
    { schema: { querystring: page, response: { 200: runPage } } },
    async ({ query: { limit, cursor } }) => {
      const runs = await store.listRuns({ limit, before: cursor });
      const last = runs.length < limit ? undefined : runs.at(-1);
      return { runs: runs.map(viewRun), next: last?.run ?? null };
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
    { schema: { params: runParams, response: { 200: z.object({ steps: z.array(stepView) }) } } },
    async ({ params: { run } }) => {
      await service.getRun(run);
      return { steps: (await store.listSteps(run)).map(viewStep) };
    },
  );

  const variables = z.object({ variables: z.array(variableView) });
  api.get(
    "/v1/runs/:run/variables",
    {
      schema: {
        params: runParams,
        querystring: z.object({ prefix: z.string().max(1024).optional() }),
        response: { 200: variables },
      },
    },
    async ({ params: { run }, query: { prefix } }) => {
      const [values, steps] = await Promise.all([
        service.listValues(run, prefix),
        store.listSteps(run),
      ]);
      return { variables: values.map((value) => viewValue(value, steps)) };
    },
  );

  api.get(
    "/v1/runs/:run/variables/:key",
    { schema: { params: z.object({ run: runId, key: z.string().max(1024) }) } },
    async ({ params: { run, key } }, reply) => {
      const { value, bytes } = await service.getValue(run, key);
      return reply
        .type("application/octet-stream")
        .header("etag", `"${value.sha256}"`)
        .header("x-content-type-options", "nosniff")
        .send(bytes);
    },
  );
}

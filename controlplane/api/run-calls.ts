import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import * as z from "zod";
import { createRun, runId, runView } from "../../contract/wire.ts";
import type { Store } from "../store/store.ts";
import type { VariablesService } from "../variables/variables-service.ts";
import { operatorCall } from "./openapi.ts";
import { pageLimit, toPage, unknownCursor } from "./page.ts";
import { viewRun } from "./views.ts";

/** Making and reading runs (API page, Operator calls). */
export function addRunCalls(
  server: FastifyInstance,
  service: VariablesService,
  store: Pick<Store, "listRuns">,
): void {
  const api = server.withTypeProvider<ZodTypeProvider>();

  api.post(
    "/v1/runs",
    {
      config: { problems: ["invalid_request", "unauthorized", "run_exists", "too_large"] },
      schema: {
        ...operatorCall,
        operationId: "createRun",
        summary: "Create a run",
        description:
          "With a `run` of one's own it can be repeated: the same request gives the run there is.",
        body: createRun,
        response: { 200: runView, 201: runView },
      },
    },
    async (request, reply) => {
      const { run, created } = await service.createRun(request.body);
      return reply.status(created ? 201 : 200).send(viewRun(run));
    },
  );

  api.get(
    "/v1/runs",
    {
      config: { problems: ["invalid_request", "unauthorized"] },
      schema: {
        ...operatorCall,
        operationId: "listRuns",
        summary: "List runs, newest first",
        querystring: z.object({ limit: pageLimit, cursor: runId.optional() }),
        response: { 200: z.object({ runs: z.array(runView), next: runId.nullable() }) },
      },
    },
    async ({ query: { limit, cursor } }) => {
      const found = await store.listRuns({ limit: limit + 1, after: cursor });
      if (found === undefined) throw unknownCursor();
      const { page, next } = toPage(found, limit, ({ run }) => run);
      return { runs: page.map(viewRun), next };
    },
  );

  api.get(
    "/v1/runs/:run",
    {
      config: { problems: ["invalid_request", "unauthorized", "not_found"] },
      schema: {
        ...operatorCall,
        operationId: "getRun",
        summary: "Read a run",
        params: z.object({ run: runId }),
        response: { 200: runView },
      },
    },
    async ({ params }) => viewRun(await service.runs.getRun(params.run)),
  );
}

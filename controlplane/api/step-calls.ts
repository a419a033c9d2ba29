import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import * as z from "zod";
import { runId, stampedStep, stampStep, stepView } from "../../contract/wire.ts";
import type { StepRecord } from "../store/store.ts";
import type { VariablesService } from "../variables/variables-service.ts";
import { operatorCall } from "./openapi.ts";
import { maxSeq, pageLimit, toPage, unknownCursor } from "./page.ts";
import { viewStep } from "./views.ts";
import { wholeNumber } from "./whole-number.ts";

const params = z.object({ run: runId });
/** A place in a run's order of stamping. */
const cursor = wholeNumber(1, maxSeq);

/** Stamping and listing the steps of a run (API page, Operator calls). */
export function addStepCalls(server: FastifyInstance, service: VariablesService): void {
  const api = server.withTypeProvider<ZodTypeProvider>();

  api.post(
    "/v1/runs/:run/steps",
    {
      config: {
        problems: [
          "invalid_request",
          "unauthorized",
          "not_found",
          "attempt_exists",
          "stale_attempt",
          "too_large",
        ],
      },
      schema: {
        ...operatorCall,
        operationId: "stampStep",
        summary: "Stamp an attempt of a step, with its token",
        description:
          "With an `attempt` of one's own it can be repeated; each answer has a fresh token.",
        params,
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
      config: { problems: ["invalid_request", "unauthorized", "not_found"] },
      schema: {
        ...operatorCall,
        operationId: "listSteps",
        summary: "List every attempt of every step, in order of stamping",
        params,
        querystring: z.object({ limit: pageLimit, cursor: cursor.optional() }),
        response: { 200: z.object({ steps: z.array(stepView), next: z.string().nullable() }) },
      },
    },
    async ({ params: { run }, query }) => {
      const found = await stepsAfter(service, run, query.cursor, query.limit + 1);
      const { page, next } = toPage(found, query.limit, ({ seq }) => String(seq));
      return { steps: page.map(viewStep), next };
    },
  );
}

/** The step that the cursor stands for is read too: a number that is none's is no cursor. */
async function stepsAfter(
  service: VariablesService,
  run: string,
  after: number | undefined,
  limit: number,
): Promise<StepRecord[]> {
  if (after === undefined) return service.runs.listSteps(run, { limit, after });
  const [at, ...steps] = await service.runs.listSteps(run, { limit: limit + 1, after: after - 1 });
  if (at?.seq !== after) throw unknownCursor();
  return steps;
}

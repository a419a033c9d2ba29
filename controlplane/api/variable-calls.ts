import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import * as z from "zod";
import { key, runId, variableView } from "../../contract/wire.ts";
import type { VariablesService } from "../variables/variables-service.ts";
import { namesTag } from "./if-none-match.ts";
import { binary } from "./binary.ts";
import { describedSchemas } from "./described-schemas.ts";
import { operatorCall } from "./openapi.ts";
import { pageLimit, toPage } from "./page.ts";
import { viewValue } from "./views.ts";

const keyPrefix = z
  .string()
  .max(1024)
  .regex(/^[A-Za-z0-9._-]*$/, "keys have letters, digits, `-`, `_` and dots")
  .register(describedSchemas, { description: "In any case" });
/** What is wrong with one is said by whoever looks it up. */
const fullKey = z.string().max(1024).register(describedSchemas, { description: "In any case" });
const tags = z.string().register(describedSchemas, { description: "Tags of earlier answers" });
const unchanged = z.null().register(describedSchemas, {
  description: "`If-None-Match` names the bytes that there are",
});

/** Reading the values of a run (API page, Operator calls). */
export function addVariableCalls(server: FastifyInstance, service: VariablesService): void {
  const api = server.withTypeProvider<ZodTypeProvider>();

  api.get(
    "/v1/runs/:run/variables",
    {
      config: { problems: ["invalid_request", "unauthorized", "not_found"] },
      schema: {
        ...operatorCall,
        operationId: "listVariables",
        summary: "List a run's variables by key",
        description: "The inputs, and of each step the values of its newest accepted attempt.",
        params: z.object({ run: runId }),
        querystring: z.object({
          limit: pageLimit,
          // A place in the order of keys: a variable that is gone from there is a place still.
          cursor: key.optional(),
          prefix: keyPrefix.default(""),
        }),
        response: {
          200: z.object({ variables: z.array(variableView), next: z.string().nullable() }),
        },
      },
    },
    async ({ params: { run }, query: { prefix, limit, cursor } }) => {
      const found = await service.runs.listValues(run, { prefix, limit: limit + 1, after: cursor });
      const { page, next } = toPage(found, limit, (value) => value.key);
      return { variables: page.map(viewValue), next };
    },
  );

  api.get(
    "/v1/runs/:run/variables/:key",
    {
      config: {
        problems: ["invalid_request", "unauthorized", "not_found"],
        answerHeaders: { ETag: "The bytes' SHA-256 in hex, in quotes" },
      },
      schema: {
        ...operatorCall,
        operationId: "getVariable",
        summary: "Read a variable's exact bytes",
        description: "Values are an agent's work: treat them as untrusted.",
        params: z.object({ run: runId, key: fullKey }),
        headers: z.object({ "if-none-match": tags.optional() }),
        response: {
          200: {
            description: "The bytes",
            content: { "application/octet-stream": { schema: binary } },
          },
          304: unchanged,
        },
      },
    },
    async ({ params, headers }, reply) => {
      const value = await service.runs.getValue(params.run, params.key);
      const tag = `"${value.sha256}"`;
      reply.header("etag", tag);
      if (namesTag(headers["if-none-match"], tag)) return reply.status(304).send(null);
      return reply.type("application/octet-stream").send(await service.runs.readValue(value));
    },
  );
}

import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import * as z from "zod";
import { ApiError } from "../api-error.ts";
import type { Metrics } from "../metrics.ts";
import type { Store } from "../store/store.ts";
import { describedSchemas } from "./described-schemas.ts";
import type { OpenApi } from "./name-schemas.ts";
import { openCall } from "./openapi.ts";

const document = z.unknown().register(describedSchemas, { type: "object" });
const health = z.object({ status: z.literal("ok") });

/** The process itself: health, metrics, and what it answers (API page, Health). Opened to anyone. */
export function addProcessCalls(
  server: FastifyInstance,
  store: Pick<Store, "ping">,
  metrics: Metrics,
  describe: () => OpenApi,
): void {
  const api = server.withTypeProvider<ZodTypeProvider>();

  api.get(
    "/healthz",
    {
      schema: {
        ...openCall,
        operationId: "getHealth",
        summary: "Whether the process serves",
        response: { 200: health },
      },
    },
    async () => ({ status: "ok" as const }),
  );

  api.get(
    "/readyz",
    {
      schema: {
        ...openCall,
        operationId: "getReadiness",
        summary: "Whether the store answers",
        response: { 200: health },
      },
    },
    async () => {
      await store.ping().catch(() => {
        throw new ApiError("unavailable", "the store does not answer");
      });
      return { status: "ok" as const };
    },
  );

  api.get(
    "/metrics",
    {
      schema: {
        ...openCall,
        operationId: "getMetrics",
        summary: "What Prometheus scrapes",
        response: {
          200: {
            description: "The text exposition format",
            content: { "text/plain": { schema: z.string() } },
          },
        },
      },
    },
    async (_, reply) => reply.type(metrics.contentType).send(await metrics.read()),
  );

  api.get(
    "/openapi.json",
    {
      schema: {
        ...openCall,
        operationId: "getOpenApi",
        summary: "This document",
        response: {
          200: {
            description: "An OpenAPI 3.1 document",
            content: { "application/json": { schema: document } },
          },
        },
      },
    },
    async () => describe(),
  );
}

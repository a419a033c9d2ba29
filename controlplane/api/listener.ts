import fastify, { type FastifyInstance } from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import { ApiError } from "../api-error.ts";
import { answerClientError } from "./client-error.ts";
import { describeCalls } from "./openapi.ts";
import { answerFrameworkError, answerProblems } from "./problem.ts";
import { securityHeaders } from "./security-headers.ts";

/**
 * The longest key has 519 characters, the longest step path 128: the router's own bound of 100 would not find
 * them.
 */
const maxParamLength = 1024;
/** For one request from its first byte to its last: a pack of the largest size over a slow network. */
const requestTimeoutMs = 300_000;

/** A server of this control plane: zod schemas, problem documents for every error, bounded in time. */
export function createListener(
  log: Logger,
  { bodyLimit }: { readonly bodyLimit: number },
): FastifyInstance {
  const server = fastify({
    logger: false,
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: "idle",
    // A HEAD would run its GET, and that may claim a step's attempt.
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
    // It would answer without a problem document; the hook below does.
    return503OnClosing: false,
  });
  let closing = false;
  server.addHook("preClose", async () => {
    closing = true;
  });
  server.addHook("onRequest", async (_, reply) => {
    reply.headers(securityHeaders);
    // On a connection that was open already; new ones are not accepted.
    if (closing) throw new ApiError("unavailable", "the control plane is stopping");
  });
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  answerProblems(server, log);
  describeCalls(server);
  return server;
}

import fastify, { type FastifyInstance } from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import { ApiError } from "../api-error.ts";
import { answerClientError } from "./client-error.ts";
import { answerProblems, sendProblem } from "./problem.ts";

/**
 * The longest key has 519 characters, the longest step path 128: the router's own bound of 100 would not find
 * them.
 */
const maxParamLength = 1024;
const badUrl = `the URL does not decode, or a part of it has more than ${String(maxParamLength)} characters`;
/** For one request from its first byte to its last: a pack of the largest size over a slow network. */
const requestTimeoutMs = 300_000;

/** Values are an agent's work, and answers are for one caller alone. */
const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

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
    // The framework's own message would repeat the URL, with whatever secret somebody put into it.
    frameworkErrors: (_, __, reply) =>
      void sendProblem(reply, new ApiError("invalid_request", badUrl)),
    clientErrorHandler: answerClientError,
  });
  server.addHook("onRequest", async (_, reply) => {
    reply.headers(securityHeaders);
  });
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  answerProblems(server, log);
  return server;
}

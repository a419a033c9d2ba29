import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import type { Problem } from "../../contract/wire.ts";
import { StoreUnavailable } from "../store/store-unavailable.ts";
import { ApiError } from "../api-error.ts";
import { securityHeaders } from "./security-headers.ts";

/** Every error of a listener as a problem document (RFC 9457) with a code from the closed list. */
export function answerProblems(server: FastifyInstance, log: Logger): void {
  server.setErrorHandler((error, request, reply) => {
    const refusal = toApiError(error);
    const call = { method: request.method, route: request.routeOptions.url };
    if (error instanceof StoreUnavailable) {
      log.warn({ event: "store_unavailable", ...call, reason: error.message });
    } else if (refusal !== error && refusal.status >= 500) {
      log.error({ event: "request_failed", ...call, err: error });
    } else {
      // Refusals are the caller's affair, but for those that ask it to come again.
      const { code, message: detail } = refusal;
      log[refusal.status === 503 ? "warn" : "debug"]({
        event: "request_refused",
        ...call,
        code,
        detail,
      });
    }
    return sendProblem(reply, refusal);
  });
  server.setNotFoundHandler((_, reply) =>
    sendProblem(reply, new ApiError("not_found", "no such call")),
  );
}

/**
 * For what the framework refuses before there is a route: a URL that does not decode, or has too long a part. Its own
 * message would repeat the URL, with whatever secret somebody put into it.
 */
export function answerFrameworkError(_: unknown, __: FastifyRequest, reply: FastifyReply): void {
  const badUrl = new ApiError("invalid_request", "the URL does not decode, or a part is too long");
  void sendProblem(reply.headers(securityHeaders), badUrl);
}

async function sendProblem(reply: FastifyReply, refusal: ApiError): Promise<void> {
  const { status } = refusal;
  if (status === 503) reply.header("retry-after", "1");
  await reply
    .status(status)
    .type("application/problem+json")
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(toProblem(refusal));
}

/** The problem document of a refusal. */
export function toProblem({ status, code, message, fields }: ApiError): Problem {
  return { type: "about:blank", title: titles[code], status, code, detail: message, ...fields };
}

const titles = {
  invalid_request: "The request is not valid",
  invalid_pack: "The pack is not valid",
  digest_mismatch: "The digest does not match",
  length_required: "A length is required",
  unauthorized: "No valid token",
  forbidden: "Not allowed",
  not_found: "Not found",
  run_exists: "The run exists",
  attempt_exists: "The attempt exists",
  already_packed: "Already packed",
  stale_instance: "Another instance has the attempt",
  stale_attempt: "There is a newer attempt",
  too_large: "Too large",
  unavailable: "Unavailable",
  internal_error: "Internal error",
} as const satisfies Record<ApiError["code"], string>;

/** What an error is to the caller. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreUnavailable) {
    return new ApiError("unavailable", "the store does not answer; try again");
  }
  if (hasZodFastifySchemaValidationErrors(error)) {
    const problems = error.validation.map(({ instancePath, message = "not valid" }) => {
      const where = instancePath.replace(/^\//, "").replaceAll("/", ".");
      // The schema library's own way to say that something is missing.
      const what = message.endsWith("received undefined") ? "required" : message;
      return where === "" ? what : `${where}: ${what}`;
    });
    return new ApiError("invalid_request", problems.join("; "));
  }
  switch (statusOf(error)) {
    case 413:
      return new ApiError("too_large", "the body is too large");
    case 415:
      return new ApiError(
        "invalid_request",
        "the Content-Type is not the one that this call takes",
      );
    case 400:
    case 414:
      return new ApiError("invalid_request", error instanceof Error ? error.message : "not valid");
    default:
      return new ApiError("internal_error", "the control plane failed; its log says why");
  }
}

function statusOf(error: unknown): number {
  return error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
}

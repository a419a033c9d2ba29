import type { FastifyInstance, FastifyReply } from "fastify";
import { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import type { ApiCode } from "../../contract/codes.ts";
import type { Problem } from "../../contract/wire.ts";
import { StoreUnavailable } from "../store/store-unavailable.ts";
import { ApiError } from "../api-error.ts";

/** Every error of a listener as a problem document (RFC 9457) with a code from the closed list. */
export function answerProblems(server: FastifyInstance, log: Logger): void {
  server.setErrorHandler((error, request, reply) => {
    const refusal = toApiError(error);
    const { method, routeOptions } = request;
    const call = { method, route: routeOptions.url };
    if (request.raw.destroyed && !request.raw.complete) {
      // Whoever sent it is gone: nothing here has failed, and pods could fill the log.
      log.debug({ event: "request_cut", ...call });
    } else if (error instanceof StoreUnavailable) {
      log.warn({ event: "store_unavailable", ...call, reason: error.message });
    } else if (refusal.status >= 500 && !(error instanceof ApiError)) {
      log.error({ event: "request_failed", ...call, err: error });
    }
    return sendProblem(reply, refusal);
  });
  server.setNotFoundHandler((_, reply) =>
    sendProblem(reply, new ApiError("not_found", "no such call")),
  );
}

const codes = new WeakMap<FastifyReply, ApiCode>();

/** Of an answer that is a problem document. */
export function problemCodeOf(reply: FastifyReply): ApiCode | undefined {
  return codes.get(reply);
}

/** One refusal as a problem document. */
export async function sendProblem(reply: FastifyReply, refusal: ApiError): Promise<void> {
  const { status, code } = refusal;
  codes.set(reply, code);
  if (status === 503) reply.header("retry-after", "1");
  await reply
    .status(status)
    .type("application/problem+json")
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(problemOf(refusal));
}

/** The document itself. */
export function problemOf({ status, code, message, fields }: ApiError): Problem {
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

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreUnavailable) {
    return new ApiError("unavailable", "the store does not answer; try again");
  }
  if (hasZodFastifySchemaValidationErrors(error)) {
    const problems = error.validation.map(({ instancePath, message = "not valid" }) => {
      const where = instancePath.replace(/^\//, "").replaceAll("/", ".");
      const what = inPlainWords(message);
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
      return new ApiError("invalid_request", error instanceof Error ? error.message : "not valid");
    default:
      return new ApiError("internal_error", "the control plane failed; its log says why");
  }
}

/** The schema library's own words for what is missing. */
function inPlainWords(message: string): string {
  if (message.endsWith("received undefined")) return "required";
  return message.endsWith("received NaN") ? "a number is required" : message;
}

function statusOf(error: unknown): number {
  return error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
}

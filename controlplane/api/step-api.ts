import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import * as z from "zod";
import type { ApiCode } from "../../contract/codes.ts";
import { maxAttempt } from "../../contract/limits.ts";
import { formatContentDigest, parseContentDigest } from "../../contract/tar-feed.ts";
import { instance, packReceipt, runId, stepPath } from "../../contract/wire.ts";
import { ApiError } from "../api-error.ts";
import type { Metrics } from "../metrics.ts";
import type { StepTokens } from "../step-tokens.ts";
import type { VariablesService } from "../variables/variables-service.ts";
import { binary } from "./binary.ts";
import { describedSchemas } from "./described-schemas.ts";
import { drain } from "./drain.ts";
import { identifyPod, requireStepToken } from "./identify-pod.ts";
import { createListener } from "./listener.ts";
import { stepCall } from "./openapi.ts";
import { toApiError } from "./problem.ts";
import { wholeNumber } from "./whole-number.ts";

const params = z.object({ run: runId, step: stepPath });
const querystring = z.object({ attempt: wholeNumber(1, maxAttempt) });
const prefillHeaders = z.object({ "wfvar-instance": instance });
const packHeaders = prefillHeaders.extend({
  "content-digest": z
    .string()
    .transform(parseContentDigest)
    .pipe(z.string("must be one sha-256 (RFC 9530)"))
    .register(describedSchemas, { description: "`sha-256=:<base64>:` of the body (RFC 9530)" }),
});

const callProblems = [
  "invalid_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "stale_instance",
  "stale_attempt",
] as const satisfies readonly ApiCode[];

export interface StepApiDeps {
  readonly service: VariablesService;
  readonly tokens: StepTokens;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/**
 * The step listener: the two calls that a pod makes, each opened by the step's own token alone (API page).
 */
export function createStepApi({ service, tokens, metrics, log }: StepApiDeps): FastifyInstance {
  const server = createListener(log, { bodyLimit: 1024 });
  // A pack is read as a stream, under its own limits.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/x-tar", (_, payload, done) => done(null, payload));
  countRefusals(server, metrics);
  // A plugin of its own: what describes the calls is there before they are.
  void server.register(async (calls) => {
    requireStepToken(calls, tokens);
    addCalls(calls, service, metrics, log);
  });
  return server;
}

function addCalls(
  server: FastifyInstance,
  service: VariablesService,
  metrics: Metrics,
  log: Logger,
): void {
  const api = server.withTypeProvider<ZodTypeProvider>();

  api.get(
    "/v1/runs/:run/steps/:step/variables",
    {
      config: {
        problems: [...callProblems, "too_large"],
        answerHeaders: {
          "Content-Digest": "`sha-256=:<base64>:` of the tar (RFC 9530)",
          "Content-Length": "Bytes of the tar",
        },
      },
      schema: {
        ...stepCall,
        operationId: "fetchPrefill",
        summary: "Fetch what the step may see",
        description: "Claims the attempt for the instance.",
        params,
        querystring,
        headers: prefillHeaders,
        response: {
          200: { description: "A tar", content: { "application/x-tar": { schema: binary } } },
        },
      },
    },
    async (request, reply) => {
      const identity = identifyPod(request);
      const { chunks, size, sha256, release } = await service.prefill(identity);
      // The pod may have gone while its prefill was made.
      if (reply.raw.destroyed) release();
      else reply.raw.once("close", release);
      reply.raw.once("close", () => {
        const sent = reply.raw.writableFinished;
        metrics.prefills.inc({ result: sent ? "sent" : "aborted", code: "" });
        if (sent) metrics.prefillBytes.inc(size);
      });
      return reply
        .type("application/x-tar")
        .header("content-length", size)
        .header("content-digest", formatContentDigest(sha256))
        .send(Readable.from(chunks, { objectMode: false }));
    },
  );

  api.put(
    "/v1/runs/:run/steps/:step/pack",
    {
      config: {
        problems: [
          ...callProblems,
          "digest_mismatch",
          "already_packed",
          "length_required",
          "too_large",
          "invalid_pack",
        ],
      },
      schema: {
        ...stepCall,
        operationId: "deliverPack",
        summary: "Deliver what the step made",
        description:
          "A tar of `pack.json` and the values, with its `Content-Length`. The same bytes again get the first receipt.",
        consumes: ["application/x-tar"],
        params,
        querystring,
        headers: packHeaders,
        body: binary,
        response: { 200: packReceipt, 201: packReceipt },
      },
    },
    async (request, reply) => {
      const identity = identifyPod(request);
      const length = request.raw.headers["content-length"];
      if (length === undefined) {
        throw new ApiError("length_required", "Content-Length is required");
      }
      const body = bodyOf(request);
      const unread = body.iterator({ destroyOnReturn: false });
      const digest = request.headers["content-digest"];
      const accepting = service.acceptPack(identity, {
        body: unread,
        size: Number(length),
        digest,
      });
      const { receipt, created } = await accepting.catch(async (error: unknown) => {
        await drain(body);
        // Nobody is there to hear of it, and it is no fault of ours.
        throw error instanceof ApiError || request.raw.complete ? error : bodyEnded();
      });
      const { accepted, status, cause } = receipt;
      metrics.packs.inc({ result: created ? "accepted" : "repeated", code: "" });
      if (created) metrics.packBytes.inc(Number(length));
      log.info({
        event: "pack_accepted",
        ...identity,
        created,
        accepted,
        status,
        cause: cause?.code,
      });
      return reply.status(created ? 201 : 200).send(receipt);
    },
  );
}

/** What a call made of is counted by the call; here what it was refused for, and how long it took. */
function countRefusals(server: FastifyInstance, metrics: Metrics): void {
  server.addHook("onError", async ({ raw, routeOptions }, _, error) => {
    if (routeOptions.url === undefined) return;
    const result = raw.destroyed && !raw.complete ? "aborted" : "refused";
    const refused = { result, code: toApiError(error).code };
    if (isPack(routeOptions.url)) metrics.packs.inc(refused);
    else metrics.prefills.inc(refused);
  });
  server.addHook("onResponse", async ({ routeOptions }, { elapsedTime }) => {
    if (routeOptions.url === undefined) return;
    const seconds = elapsedTime / 1000;
    if (isPack(routeOptions.url)) metrics.packSeconds.observe(seconds);
    else metrics.prefillSeconds.observe(seconds);
  });
}

function isPack(route: string): boolean {
  return route.endsWith("/pack");
}

function bodyEnded(): ApiError {
  return new ApiError("invalid_request", "the connection ended before the body did");
}

function bodyOf({ body }: FastifyRequest): Readable {
  if (body instanceof Readable) return body;
  throw new ApiError("invalid_request", "the body must be application/x-tar");
}

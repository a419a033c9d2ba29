import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import * as z from "zod";
import { formatContentDigest, parseContentDigest } from "../../contract/tar-feed.ts";
import { instance, packReceipt, runId, stepPath } from "../../contract/wire.ts";
import { ApiError } from "../api-error.ts";
import type { Metrics } from "../metrics.ts";
import type { StepTokens } from "../step-tokens.ts";
import type { PackIdentity } from "../variables/read-pack.ts";
import type { VariablesService } from "../variables/variables-service.ts";
import { createListener } from "./listener.ts";
import { problemCodeOf } from "./problem.ts";

const maxDrainedBytes = 32 * 1024 ** 2;
const maxDrainMs = 10_000;

const params = z.object({ run: runId, step: stepPath });
const querystring = z.object({ attempt: z.coerce.number().int().min(1).max(1_000_000) });

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
  server.addHook("onResponse", async (request, reply) => measure(request, reply, metrics));
  const api = server.withTypeProvider<ZodTypeProvider>();

  api.get(
    "/v1/runs/:run/steps/:step/variables",
    { schema: { params, querystring } },
    async (request, reply) => {
      const identity = await identify(request, tokens, { ...request.params, ...request.query });
      const { chunks, size, sha256, release } = await service.prefill(identity);
      // The pod may have gone while its prefill was made.
      if (reply.raw.destroyed) release();
      else reply.raw.once("close", release);
      return reply
        .type("application/x-tar")
        .header("content-length", size)
        .header("content-digest", formatContentDigest(sha256))
        .send(Readable.from(chunks, { objectMode: false }));
    },
  );

  api.put(
    "/v1/runs/:run/steps/:step/pack",
    { schema: { params, querystring, response: { 200: packReceipt, 201: packReceipt } } },
    async (request, reply) => {
      const identity = await identify(request, tokens, { ...request.params, ...request.query });
      const length = request.headers["content-length"];
      if (length === undefined) {
        throw new ApiError("length_required", "Content-Length is required");
      }
      const digest = parseContentDigest(request.headers["content-digest"]);
      if (digest === undefined) {
        throw new ApiError("invalid_request", "Content-Digest must be one sha-256");
      }
      const body = bodyOf(request);
      const unread = body.iterator({ destroyOnReturn: false });
      const sent = { body: unread, size: Number(length), digest };
      const accepting = service.acceptPack(identity, sent);
      const { receipt, created } = await accepting.catch(async (error: unknown) => {
        await drain(body);
        throw error;
      });
      const { accepted, status, cause } = receipt;
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
  return server;
}

/** Counts a call of the two when its answer has been sent. */
function measure(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const { statusCode, elapsedTime } = reply;
  const seconds = elapsedTime / 1000;
  const code = problemCodeOf(reply) ?? "";
  if (request.routeOptions.url?.endsWith("/pack") === true) {
    const result = statusCode === 201 ? "accepted" : statusCode === 200 ? "repeated" : "refused";
    metrics.packs.inc({ result, code });
    metrics.packSeconds.observe(seconds);
    if (result === "accepted") metrics.packBytes.inc(Number(request.headers["content-length"]));
  } else if (request.routeOptions.url !== undefined) {
    const result = statusCode === 200 ? "sent" : "refused";
    metrics.prefills.inc({ result, code });
    metrics.prefillSeconds.observe(seconds);
    if (result === "sent") metrics.prefillBytes.inc(Number(reply.getHeader("content-length")));
  }
}

/** The token must be for exactly the step attempt that the call names. */
async function identify(
  request: FastifyRequest,
  tokens: StepTokens,
  { run, step, attempt }: { run: string; step: string; attempt: number },
): Promise<PackIdentity> {
  const [, token] = /^Bearer ([\x21-\x7e]+)$/.exec(request.headers.authorization ?? "") ?? [];
  const claims = token === undefined ? undefined : await tokens.verify(token);
  if (claims === undefined) throw new ApiError("unauthorized", "a valid step token is required");
  if (claims.run !== run || claims.step !== step || claims.attempt !== attempt) {
    throw new ApiError("forbidden", "the token is for another step or attempt");
  }
  const pod = instance.safeParse(request.headers["wfvar-instance"]);
  if (!pod.success) throw new ApiError("invalid_request", "Wfvar-Instance is required");
  return { run, step, attempt, instance: pod.data };
}

function bodyOf({ body }: FastifyRequest): Readable {
  if (body instanceof Readable) return body;
  throw new ApiError("invalid_request", "the body must be application/x-tar");
}

/**
 * Reads the rest of a refused body, so that the answer is not lost to a connection reset; a sender that has
 * far more to say is cut off.
 */
async function drain(body: Readable): Promise<void> {
  let left = maxDrainedBytes;
  body.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) body.destroy();
  });
  body.resume();
  await finished(body, { signal: AbortSignal.timeout(maxDrainMs) }).catch(() => body.destroy());
}

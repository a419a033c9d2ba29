import type { FastifyInstance } from "fastify";
import { ApiError } from "../api-error.ts";
import type { StepClaims, StepTokens } from "../step-tokens.ts";
import type { PackIdentity } from "../variables/read-pack.ts";
import { bearerToken } from "./bearer-token.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What its token opens; null only before it was looked at. */
    stepClaims: StepClaims | null;
  }
}

/** Lets nobody make the calls that are added after this without a step's token, whatever else they ask. */
export function requireStepToken(server: FastifyInstance, tokens: StepTokens): void {
  server.decorateRequest("stepClaims", null);
  server.addHook("onRequest", async (request) => {
    const token = bearerToken(request);
    const claims = token === undefined ? undefined : await tokens.verify(token);
    if (claims === undefined) throw new ApiError("unauthorized", "a valid step token is required");
    request.stepClaims = claims;
  });
}

/** What says which attempt a call is for, and which pod makes it. */
export interface StepRequest {
  readonly stepClaims: StepClaims | null;
  readonly params: { readonly run: string; readonly step: string };
  readonly query: { readonly attempt: number };
  readonly headers: { readonly "wfvar-instance": string };
}

/** Who calls. Throws `forbidden` where the token is for another step attempt than the call. */
export function identifyPod({ stepClaims, params, query, headers }: StepRequest): PackIdentity {
  const { run, step } = params;
  const { attempt } = query;
  if (stepClaims?.run !== run || stepClaims.step !== step || stepClaims.attempt !== attempt) {
    throw new ApiError("forbidden", "the token is for another step or attempt");
  }
  return { run, step, attempt, instance: headers["wfvar-instance"] };
}

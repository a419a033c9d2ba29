import { ApiError } from "../api-error.ts";
import type { StepTokens } from "../step-tokens.ts";
import type { PackIdentity } from "../variables/read-pack.ts";

/** What says which attempt a call is for, and which pod makes it. */
export interface StepRequest {
  readonly params: { readonly run: string; readonly step: string };
  readonly query: { readonly attempt: number };
  readonly headers: {
    readonly "wfvar-instance": string;
    readonly authorization?: string | undefined;
  };
}

/** Who calls: the token must be for exactly the step attempt that the call names. */
export async function identifyPod(
  {
    headers: { authorization, "wfvar-instance": pod },
    params: { run, step },
    query: { attempt },
  }: StepRequest,
  tokens: StepTokens,
): Promise<PackIdentity> {
  const [, token] = /^Bearer ([\x21-\x7e]+)$/.exec(authorization ?? "") ?? [];
  const claims = token === undefined ? undefined : await tokens.verify(token);
  if (claims === undefined) throw new ApiError("unauthorized", "a valid step token is required");
  if (claims.run !== run || claims.step !== step || claims.attempt !== attempt) {
    throw new ApiError("forbidden", "the token is for another step or attempt");
  }
  return { run, step, attempt, instance: pod };
}

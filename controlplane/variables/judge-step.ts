import { packCodes, type CauseCode } from "../../contract/codes.ts";
import { isOneOf } from "../../contract/json.ts";
import type { PackManifest } from "../../contract/pack.ts";
import type { DeclaredOutput } from "../../contract/step-file.ts";
import type { MissingOutputPolicy, Receipt } from "../store/store.ts";

/**
 * What an accepted pack makes of its step: the status, its first cause, and warnings (WV-10). The step's own
 * end stands first, then a limit that lost all values, then missing outputs; a failed step does not fail
 * again for outputs that it did not get to write.
 */
export function judgeStep(
  manifest: PackManifest,
  outputs: readonly DeclaredOutput[],
  policy: MissingOutputPolicy,
): Receipt {
  const present = new Set(manifest.variables.map(({ key }) => key));
  const warnings = outputs
    .map(({ key, required }) => ({ key: `${manifest.step}.${key}`, required }))
    .filter(({ key, required }) => required && !present.has(key))
    .map(({ key }) => ({ code: "variables_missing_output" as const, key }));
  const cause = endCause(manifest) ?? limitCause(manifest) ?? missingCause(warnings, policy);
  const status = cause === null ? "succeeded" : "failed";
  return { accepted: manifest.variables.length, warnings, status, cause };
}

interface Cause {
  readonly code: CauseCode;
  readonly message: string;
}

const endings = {
  lost: "the agent's container ended without a marker",
  interrupted: "the pod was stopped before the agent was done",
  deadline: "the deadline passed before the agent was done",
  never_started: "the agent never started",
} as const;

function endCause({ completion: { by, marker } }: PackManifest): Cause | null {
  if (by !== "marker") return { code: by, message: endings[by] };
  if (marker === null) {
    return {
      code: "marker_invalid",
      message: "the completion marker is not one the entrypoint writes",
    };
  }
  if (marker.outcome === "terminated") {
    return { code: "agent_terminated", message: `the agent was terminated (${exitOf(marker)})` };
  }
  if (marker.outcome === "failed" || marker.exit_code !== 0) {
    return { code: "agent_failed", message: `the agent failed (${exitOf(marker)})` };
  }
  return null;
}

function exitOf({ exit_code, signal }: { exit_code: number; signal: string | null }): string {
  return signal === null ? `exit ${String(exit_code)}` : signal;
}

function limitCause({ rejected }: PackManifest): Cause | null {
  for (const { code, limit } of rejected) {
    if (isOneOf(packCodes, code)) {
      const which = limit === undefined ? "" : ` of ${String(limit)}`;
      return { code, message: `the step left more than its limit${which}; no value was accepted` };
    }
  }
  return null;
}

function missingCause(
  warnings: readonly { readonly key: string }[],
  policy: MissingOutputPolicy,
): Cause | null {
  const [first] = warnings;
  if (policy === "warn" || first === undefined) return null;
  const more = warnings.length > 1 ? ` and ${String(warnings.length - 1)} more` : "";
  return {
    code: "variables_missing_output",
    message: `the declared output ${first.key}${more} is missing`,
  };
}

import { isIntegerIn, isJsonObject, type JsonObject } from "./json.ts";
import { defaultLimits, type Limits } from "./limits.ts";

/** `.step` (WV-1): what this step is, for the agent's side. Limits here inform; the sidecar has its own. */

export const outputKinds = ["text", "choice", "json", "number", "bool"] as const;
export type OutputKind = (typeof outputKinds)[number];

export interface DeclaredOutput {
  /** Relative to the step: `verdict`, `findings.high`. */
  readonly key: string;
  readonly kind: OutputKind;
  /** Of a closed `choice`. */
  readonly options?: readonly string[] | undefined;
  readonly required: boolean;
}

export interface StepFile {
  readonly version: 1;
  readonly run: string;
  /** Step path in key notation: `review-loop_2.judge`. */
  readonly step: string;
  readonly attempt: number;
  readonly limits: Limits;
  readonly outputs: readonly DeclaredOutput[];
}

/** Limits as `.step` gives them; whatever is absent or not a count falls back to the default. */
export function parseStepLimits(json: JsonObject): Limits {
  const given = json["limits"];
  const limit = (name: keyof Limits): number => {
    const value = isJsonObject(given) ? given[name] : undefined;
    return isIntegerIn(value, 1, Number.MAX_SAFE_INTEGER) ? value : defaultLimits[name];
  };
  return {
    max_value_bytes: limit("max_value_bytes"),
    max_step_bytes: limit("max_step_bytes"),
    max_step_files: limit("max_step_files"),
    max_step_entries: limit("max_step_entries"),
  };
}

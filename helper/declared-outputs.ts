import { isJsonObject, isOneOf, isStringArray, type JsonObject } from "../contract/json.ts";
import { parseKey } from "../contract/key.ts";
import { outputKinds, type DeclaredOutput } from "../contract/step-file.ts";

/**
 * The outputs that `.step` declares (WV-1, WV-10), keys lowercased. What is not one is left out, and a kind
 * that this version does not know counts as text: a newer control plane must not break this step.
 */
export function declaredOutputs(untrustedStepFile: JsonObject): DeclaredOutput[] {
  const given = untrustedStepFile["outputs"];
  return Array.isArray(given) ? given.flatMap((one: unknown) => parseOutput(one) ?? []) : [];
}

function parseOutput(untrusted: unknown): DeclaredOutput | undefined {
  if (!isJsonObject(untrusted) || typeof untrusted["key"] !== "string") return undefined;
  const parsed = parseKey(untrusted["key"]);
  if ("problem" in parsed) return undefined;
  const { kind, options, required } = untrusted;
  return {
    key: parsed.segments.join("."),
    kind: isOneOf(outputKinds, kind) ? kind : "text",
    ...(isStringArray(options) ? { options } : {}),
    required: required !== false,
  };
}

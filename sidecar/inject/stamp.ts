import { stampedStep } from "../../contract/wire.ts";
import { passedOn } from "./inject-settings.ts";

/**
 * The settings in the answer of `POST /v1/runs/{run}/steps`; its token stays out of manifests. Undefined where
 * the text is not such an answer.
 */
export function readStamp(untrusted: string): Readonly<Record<string, string>> | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(untrusted);
  } catch {
    return undefined;
  }
  const { data } = stampedStep.safeParse(answer);
  if (data === undefined) return undefined;
  const names = new Set<string>(Object.values(passedOn).map(({ env }) => env));
  return Object.fromEntries(Object.entries(data.env).filter(([name]) => names.has(name)));
}

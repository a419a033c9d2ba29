import { rootVariable, selfVariable } from "../contract/layout.ts";
import type { Captured } from "./capture.ts";

export interface SaveOptions {
  /** The variables folder's path. */
  readonly root: string;
  /** The own folder's names from the root. */
  readonly ownFolder: readonly string[];
}

/**
 * Saves what an agent printed as the own leaves RESPONSE and, where it printed anything there, FAILURE, as
 * the helper saves values: atomically, through no link, within the step's limits. Gives one line for each
 * that could not be saved. Never rejects.
 */
export async function saveCaptured(
  { response, failure }: Captured,
  { root, ownFolder }: SaveOptions,
): Promise<readonly string[]> {
  // Loaded only where it is wanted: the helper is as large as the rest of this program.
  const { saveValue } = await import("../helper/save.ts");
  const env = { [rootVariable]: root, [selfVariable]: [root, ...ownFolder].join("/") };
  const problems: string[] = [];
  const save = (name: string, value: Buffer): void => {
    try {
      // The full key: a dependency may be a step that is named `response`.
      saveValue(env, [...ownFolder, name].join("."), value);
    } catch (error) {
      const why = error instanceof Error ? error.message : "unknown";
      problems.push(`the agent's ${name} could not be saved: ${why}`);
    }
  };
  save("response", response);
  if (failure.length > 0) save("failure", failure);
  return problems;
}

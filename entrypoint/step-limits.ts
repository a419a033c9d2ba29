import { parseJsonObject } from "../contract/json.ts";
import { rootFiles } from "../contract/layout.ts";
import { defaultLimits, type Limits } from "../contract/limits.ts";
import { parseStepLimits } from "../contract/step-file.ts";
import { readSmallFile } from "./small-file.ts";

const maxStepFileBytes = 1024 ** 2;

/**
 * The limits as `.step` gives them, else the defaults (WV-5). Read before the agent could have written them.
 */
export function readStepLimits(rootFd: number): Limits {
  const bytes = readSmallFile(rootFd, rootFiles.step, maxStepFileBytes);
  const json = bytes === undefined ? undefined : parseJsonObject(bytes);
  return json === undefined ? defaultLimits : parseStepLimits(json);
}

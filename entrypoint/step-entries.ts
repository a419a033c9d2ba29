import { parseJsonObject } from "../contract/json.ts";
import { rootFiles } from "../contract/layout.ts";
import { defaultLimits } from "../contract/limits.ts";
import { parseStepLimits } from "../contract/step-file.ts";
import { readSmallFile } from "./small-file.ts";

const maxStepFileBytes = 1024 ** 2;

/** `max_step_entries` as `.step` gives it, else the default (WV-5). Read before the agent could have written it. */
export function readMaxEntries(rootFd: number): number {
  const bytes = readSmallFile(rootFd, rootFiles.step, maxStepFileBytes);
  const json = bytes === undefined ? undefined : parseJsonObject(bytes);
  return (json === undefined ? defaultLimits : parseStepLimits(json)).max_step_entries;
}

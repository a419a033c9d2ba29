import { pack as createTar } from "tar-stream";
import { hashBody, type HashedBody } from "../../contract/hashed-body.ts";
import { parseStepPath } from "../../contract/ids.ts";
import { layoutKey, rootFiles, workflowFolder } from "../../contract/layout.ts";
import { maxPrefillBytes, maxPrefillEntries } from "../../contract/limits.ts";
import { fileHeader, folderHeader } from "../../contract/pack.ts";
import type { StepFile } from "../../contract/step-file.ts";
import { ApiError } from "../api-error.ts";
import { inputsStep, type RunRecord, type StepRecord, type Store } from "../store/store.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import { visibleSteps } from "./visibility.ts";

/** Of an entry in memory, beside its contents: header and padding. */
const entryBytes = 1024;

/**
 * The tar that fills a step's volume (WV-1, WV-9): `.step`, the run's inputs, and a folder for each step that
 * it may see, also where that has no values. Its memory is the caller's to release. Throws `too_large` past the
 * prefill limits, `unavailable` where there is no memory for it.
 */
export async function buildPrefill(
  store: Store,
  run: RunRecord,
  step: StepRecord,
  memory: MemoryBudget,
): Promise<HashedBody & { release: () => void }> {
  const steps = await visibleSteps(store, run.run, step.step, step.dependsOn);
  const values = await store.listValues(run.run, [inputsStep, ...steps]);
  const identity = Buffer.from(JSON.stringify(stepFile(run, step)));
  const total = values.reduce((sum, { size }) => sum + size, identity.length);
  if (total > maxPrefillBytes) {
    const sizes = `${String(total)} bytes; the limit is ${String(maxPrefillBytes)}`;
    throw new ApiError("too_large", `what ${step.step} may see has ${sizes}`);
  }
  const files = values.map((value) => ({ ...value, path: layoutKey(value.key.split(".")) }));
  const folders = new Set([workflowFolder]);
  for (const path of [...steps.map(stepFolder), ...files.map((file) => file.path.slice(0, -1))]) {
    for (let depth = 1; depth <= path.length; depth += 1)
      folders.add(path.slice(0, depth).join("/"));
  }
  const entries = files.length + folders.size + 1;
  if (entries > maxPrefillEntries) {
    const limit = String(maxPrefillEntries);
    throw new ApiError("too_large", `what ${step.step} may see has more than ${limit} entries`);
  }

  const release = memory.take(total + entries * entryBytes);
  try {
    return { ...(await writeTar(store, identity, [...folders].toSorted(), files)), release };
  } catch (error) {
    release();
    throw error;
  }
}

interface PrefillFile {
  readonly path: readonly string[];
  readonly size: number;
  readonly sha256: string;
}

async function writeTar(
  store: Store,
  identity: Buffer,
  folders: readonly string[],
  files: readonly PrefillFile[],
): Promise<HashedBody> {
  const tar = createTar();
  tar.entry(fileHeader(rootFiles.step, identity.length), identity);
  for (const folder of folders) tar.entry(folderHeader(folder));
  for (const { path, size, sha256 } of files) {
    const bytes = await store.getContent(sha256);
    if (bytes === undefined) throw new Error(`content ${sha256} is missing from the store`);
    tar.entry(fileHeader(path.join("/"), size), bytes);
  }
  tar.finalize();
  return hashBody(tar);
}

function stepFolder(path: string): readonly string[] {
  return parseStepPath(path)?.segments ?? [path];
}

function stepFile({ run, limits }: RunRecord, { step, attempt, outputs }: StepRecord): StepFile {
  return { version: 1, run, step, attempt, limits, outputs };
}

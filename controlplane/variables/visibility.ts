import { parseStepPath } from "../../contract/ids.ts";
import type { Store } from "../store/store.ts";

/**
 * Which steps' outputs a step may see (WV-9): those it directly depends on and, inside a loop body, every
 * step of every earlier iteration of that loop. Computed from what was stamped, never from what the pod says.
 * The run's inputs are always visible and not in the list.
 */
export async function visibleSteps(
  store: Pick<Store, "listStepPaths">,
  run: string,
  step: string,
  dependsOn: readonly string[],
): Promise<string[]> {
  const visible = new Set(dependsOn);
  const loop = parseStepPath(step)?.loop;
  if (loop !== undefined) {
    for (const path of await store.listStepPaths(run, loop.id)) {
      const other = parseStepPath(path)?.loop;
      if (other?.id === loop.id && other.iteration < loop.iteration) visible.add(path);
    }
  }
  // A step never sees an earlier attempt of itself as another step's.
  visible.delete(step);
  return [...visible].toSorted();
}

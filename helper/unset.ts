import { checkedKey } from "./checked-key.ts";
import { EntryBudget } from "./entry-budget.ts";
import { filesNamed, obstacleNamed } from "./files-named.ts";
import { nameOf, type Folder } from "./folder.ts";
import { barred, type Obstacle } from "./obstacle.ts";
import { fullKey } from "./own-prefix.ts";
import { ownSegments } from "./own-segments.ts";
import { withStep, type Env, type Step } from "./step.ts";
import { adviseOnAbsent } from "./advise-on-absent.ts";
import { unlinkIfThere } from "./unlink-if-there.ts";
import { VariablesError } from "./variables-error.ts";

/**
 * Removes an own variable, every file that spells it, and gives its full key (WV-14). Folders stay. Throws
 * VariablesError: `not_found` where no file spells it, `invalid_key`, `outside_own_step`, `unsafe_path` where
 * a link or the like is in the way, and what `withStep` throws.
 */
export function unsetValue(env: Env, key: string): string {
  const segments = checkedKey(key);
  const remove = (step: Step): string => {
    const own = ownSegments(segments, step);
    const full = fullKey(own, step.path);
    const search = { key: full, budget: EntryBudget.ofStep(step.limits) };
    if (!removeBelow(step.own, own, [], search)) {
      throw absent(segments, full, step);
    }
    return full;
  };
  return withStep(env, remove, segments.join("."));
}

interface Search {
  readonly key: string;
  readonly budget: EntryBudget;
}

/** False where no file has the key. */
function removeBelow(
  folder: Folder,
  segments: readonly string[],
  above: readonly string[],
  search: Search,
): boolean {
  const [segment = "", ...rest] = segments;
  const path = [...above, segment];
  const refuse = (obstacle: Obstacle): never => {
    const behind = rest.length === 0 ? undefined : path.join(".");
    throw barred(search.key, behind, obstacle, "remove it");
  };
  const verdict = folder.list(search.budget);
  const spellings =
    rest.length === 0 ? filesNamed(verdict, segment) : (verdict.folders.get(segment) ?? []);
  if (spellings.length === 0) {
    const obstacle = obstacleNamed(verdict, segment);
    return obstacle === undefined ? false : refuse(obstacle);
  }
  if (rest.length === 0) {
    for (const { origin, name } of spellings) unlinkIfThere(origin, nameOf(name));
    return true;
  }
  const child = folder.open(segment, spellings);
  try {
    const isRemoved = removeBelow(child, rest, path, search);
    return isRemoved || child.obstacle === undefined ? isRemoved : refuse(child.obstacle);
  } finally {
    child.close();
  }
}

function absent(typed: readonly string[], full: string, step: Step): VariablesError {
  return new VariablesError(
    "not_found",
    `step ${step.path.text} has no variable ${full} of its own${adviseOnAbsent(typed, step, "own")}`,
    { key: full },
  );
}

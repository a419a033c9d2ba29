import { checkedKey } from "./checked-key.ts";
import { EntryBudget } from "./entry-budget.ts";
import { filesNamed, isOddNamed } from "./files-named.ts";
import { nameOf, type Folder } from "./folder.ts";
import { inTheWay } from "./in-the-way.ts";
import { fullKey } from "./own-prefix.ts";
import { ownSegments } from "./own-segments.ts";
import { withStep, type Env, type Step } from "./step.ts";
import { suggestKey } from "./suggest-key.ts";
import { unlinkIfThere } from "./unlink-if-there.ts";
import { VariablesError } from "./variables-error.ts";
import { ownKeys } from "./visible.ts";

/**
 * Removes an own variable, every file that spells it, and gives its full key (WV-14). Folders stay. Throws
 * VariablesError: `not_found` where no file spells it, `invalid_key`, `outside_own_step`, `unsafe_path` where
 * a link or the like is in the way, and what `withStep` throws.
 */
export function unsetValue(env: Env, key: string): string {
  const segments = checkedKey(key);
  return withStep(env, (step) => {
    const own = ownSegments(segments, step);
    const full = fullKey(own, step.path);
    if (!removeBelow(step.own, own, { key: full, budget: EntryBudget.ofStep(step.limits) })) {
      throw absent(segments, full, step);
    }
    return full;
  });
}

interface Search {
  readonly key: string;
  readonly budget: EntryBudget;
}

/** False where no file has the key. */
function removeBelow(folder: Folder, segments: readonly string[], search: Search): boolean {
  const [segment = "", ...rest] = segments;
  const verdict = folder.list(search.budget);
  const spellings =
    rest.length === 0 ? filesNamed(verdict, segment) : (verdict.folders.get(segment) ?? []);
  if (spellings.length === 0) {
    if (isOddNamed(verdict, segment)) throw inTheWay(search.key, segment);
    return false;
  }
  if (rest.length === 0) {
    for (const { origin, name } of spellings) unlinkIfThere(origin, nameOf(name));
    return true;
  }
  const child = folder.open(segment, spellings);
  try {
    const isRemoved = removeBelow(child, rest, search);
    if (!isRemoved && child.unsafe) throw inTheWay(search.key, segment);
    return isRemoved;
  } finally {
    child.close();
  }
}

function absent(typed: readonly string[], full: string, step: Step): VariablesError {
  const advice = suggestKey(typed, () => ownKeys(step)) ?? ": list the keys to see which are";
  return new VariablesError(
    "not_found",
    `step ${step.path.text} has no variable ${full} of its own${advice}`,
    { key: full },
  );
}

import { nearestName } from "../contract/nearest-name.ts";
import { EntryBudget } from "./entry-budget.ts";
import { withoutExtension } from "./file-extension.ts";
import { nameOf } from "./folder.ts";
import type { Step } from "./step.ts";
import { ownKeys, visibleKeys } from "./visible.ts";
import { walk } from "./walk.ts";

/**
 * What to do about a key that does not exist (WV-14), to end a message with: the key without a file's extension
 * where that exists, what is in the folder of that name, the file of that name, the nearest key. `which` are the
 * keys to choose from; where they cannot be listed there are none: that is not what the caller asked for.
 */
export function adviseOnAbsent(
  segments: readonly string[],
  step: Step,
  which: "own" | "visible" = "visible",
): string {
  const key = segments.join(".");
  const known = orNone(() => (which === "own" ? ownKeys(step) : visibleKeys(step)));
  const bare = withoutExtension(segments)?.join(".");
  if (bare !== undefined && known.includes(bare)) return `; did you mean ${bare}?`;
  if (known.some((each) => each.startsWith(`${key}.`)))
    return `: it is a folder; list the prefix ${key}. to see what is in it`;
  if (orNone(() => misnamed(step)).includes(key))
    return ": a file has that name, but names hold no dot: rename it";
  const nearest = nearestName(key, known);
  return nearest === undefined ? ": list the keys to see which are" : `; did you mean ${nearest}?`;
}

/** Own files whose names are no keys, as the keys that they look like. */
function misnamed({ own, limits }: Step): readonly string[] {
  const names: string[] = [];
  for (const { path, verdict } of walk(own, EntryBudget.ofStep(limits))) {
    for (const { type, name } of verdict.invalid)
      if (type === "file") names.push([...path, nameOf(name).toLowerCase()].join("."));
  }
  return names;
}

function orNone(list: () => readonly string[]): readonly string[] {
  try {
    return list();
  } catch {
    return [];
  }
}

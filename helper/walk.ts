import type { FolderVerdict } from "../contract/folder-rules.ts";
import type { EntryBudget } from "./entry-budget.ts";
import type { Folder } from "./folder.ts";

export interface WalkedFolder {
  /** Segments from where the walk began. */
  readonly path: readonly string[];
  /** What stands in it; the entries' descriptors are open until the next step of the walk. */
  readonly verdict: FolderVerdict<number>;
}

/**
 * Every folder from this one down, parents first; what is too deep, badly named or a link is never gone into (WV-2, WV-11). At most
 * eight levels are open at a time. `isWanted` leaves out a folder with all that is in it.
 */
export function* walk(
  folder: Folder,
  budget: EntryBudget,
  isWanted: (path: readonly string[]) => boolean = () => true,
  path: readonly string[] = [],
): Generator<WalkedFolder, void, undefined> {
  const verdict = folder.list(budget);
  yield { path, verdict };
  for (const [segment, spellings] of verdict.folders) {
    const childPath = [...path, segment];
    if (!isWanted(childPath)) continue;
    const child = folder.open(segment, spellings);
    try {
      yield* walk(child, budget, isWanted, childPath);
    } finally {
      child.close();
    }
  }
}

import { leafShadowsFolder } from "../contract/layout.ts";
import { EntryBudget } from "./entry-budget.ts";
import { filesNamed, obstacleNamed } from "./files-named.ts";
import { nameOf, type Entry, type Folder } from "./folder.ts";
import { barred } from "./obstacle.ts";
import { fullKey } from "./own-prefix.ts";
import type { Step } from "./step.ts";
import { VariablesError } from "./variables-error.ts";

/** Where a leaf is to be written: below a folder that exists. */
export interface LeafPlace {
  /** The deepest folder on the way that exists, open. */
  readonly folder: Folder;
  /** Names of the folders that are still to be made in it, one in the other. */
  readonly missing: readonly string[];
  /** Files that hold the key now; the first is the one to replace. More than one means that the key is ambiguous. */
  readonly existing: readonly Entry[];
  /** The leaf's name, where nothing holds the key yet: uppercase, unless a folder has that very name (WV-2). */
  readonly name: string;
}

/**
 * Finds the place of an own key, changing nothing. Throws `unsafe_path` where only a link or the like bears a name on the way, and
 * `invalid_key` where a leaf and a folder would need the same name.
 */
export function withLeafPlace(
  step: Step,
  own: readonly string[],
  use: (place: LeafPlace) => void,
): void {
  const search = {
    key: fullKey(own, step.path),
    budget: EntryBudget.ofStep(step.limits),
    use,
  };
  descend(step.own, own, [], search);
}

interface Search {
  readonly key: string;
  readonly budget: EntryBudget;
  readonly use: (place: LeafPlace) => void;
}

function descend(
  folder: Folder,
  segments: readonly string[],
  above: readonly string[],
  search: Search,
): void {
  const [segment = "", ...rest] = segments;
  const path = [...above, segment];
  const verdict = folder.list(search.budget);
  const files = filesNamed(verdict, segment);
  const folders = verdict.folders.get(segment) ?? [];
  const [same, rivals] = rest.length === 0 ? [files, folders] : [folders, files];
  if (leafShadowsFolder(segment) && rivals.length > 0) throw nameTaken(search.key, segment);
  const obstacle = same.length === 0 ? obstacleNamed(verdict, segment) : undefined;
  if (obstacle !== undefined) {
    const behind = rest.length === 0 ? undefined : path.join(".");
    throw barred(search.key, behind, obstacle, "remove it");
  }
  const leaf = rest.at(-1);
  if (leaf === undefined) {
    const name = freeName(folder, [segment.toUpperCase(), segment], rivals);
    if (files.length === 0 && name === undefined) throw nameTaken(search.key, segment);
    search.use({ folder, missing: [], existing: files, name: name ?? segment });
  } else if (folders.length === 0) {
    const name = freeName(folder, [segment, segment.toUpperCase()], rivals);
    if (name === undefined) throw nameTaken(search.key, segment);
    const missing = [name, ...rest.slice(0, -1)];
    search.use({ folder, missing, existing: [], name: leaf.toUpperCase() });
  } else {
    const child = folder.open(segment, folders);
    try {
      if (child.fds.length === 0)
        throw barred(search.key, path.join("."), child.obstacle ?? "odd", "remove it");
      descend(child, rest, path, search);
    } finally {
      child.close();
    }
  }
}

/** The first name that no rival has in the very folder where it would be made. */
function freeName(
  { fds: [fd] }: Folder,
  names: readonly string[],
  rivals: readonly Entry[],
): string | undefined {
  const taken = new Set(
    rivals.filter(({ origin }) => origin === fd).map(({ name }) => nameOf(name)),
  );
  return names.find((name) => !taken.has(name));
}

function nameTaken(key: string, segment: string): VariablesError {
  return new VariablesError(
    "invalid_key",
    `${key} needs a file and a folder that are both named ${segment}, and no letter case tells them apart: choose another name`,
    { key },
  );
}

import { compareKeys, foldNameBytes } from "../contract/key.ts";
import { EntryBudget } from "./entry-budget.ts";
import { fileSize } from "./file-size.ts";
import { fullKey, relativeKey } from "./own-prefix.ts";
import { withStep, type Env, type Step } from "./step.ts";
import { walk } from "./walk.ts";

export interface ListedKey {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Without a prefix the own keys, relative. With one, in any case, every visible variable once whose key starts with it: own ones relative
 * where that form does, full where only that one does (WV-13). Whatever is listed, `loadValue` finds: ambiguous keys, links, odd files,
 * dotfiles and names that are no keys are left out. Sorted. Throws what `withStep` throws and `step_entries_exceeded`.
 */
export function listKeys(env: Env, prefix?: string): ListedKey[] {
  return withStep(env, (step) => {
    const own = findOwn(step);
    const listed =
      prefix === undefined
        ? own.found.map(({ relative, full, size }) => ({ key: relative ?? full, size }))
        : withPrefix([...own.found, ...findOthers(step, own.shadowing)], prefix);
    listed.sort((a, b) => compareKeys(a.key, b.key));
    return listed;
  });
}

interface Visible {
  /** Undefined where only the full key reaches it. */
  readonly relative: string | undefined;
  readonly full: string;
  readonly size: number;
}

/** Own variables, and the relative keys that stop at the own folder: theirs, and the ambiguous ones, which loading refuses. */
function findOwn({ own, path: step, limits }: Step): {
  readonly found: readonly Visible[];
  readonly shadowing: ReadonlySet<string>;
} {
  const found: Visible[] = [];
  const shadowing = new Set<string>();
  for (const { path, verdict } of walk(own, EntryBudget.ofStep(limits))) {
    for (const [segment, entry] of verdict.leaves) {
      const size = fileSize(entry);
      if (size === undefined) continue;
      const segments = [...path, segment];
      const relative = relativeKey(segments, step);
      if (relative !== undefined) shadowing.add(relative);
      found.push({ relative, full: fullKey(segments, step), size });
    }
    for (const entry of verdict.invalid) {
      const segment = entry.type === "file" ? foldNameBytes(entry.name) : undefined;
      const relative = segment === undefined ? undefined : relativeKey([...path, segment], step);
      if (relative !== undefined) shadowing.add(relative);
    }
  }
  return { found, shadowing };
}

/** Inputs and other steps' variables, but those that an own key hides. */
function findOthers({ root, path: step }: Step, shadowing: ReadonlySet<string>): Visible[] {
  const found: Visible[] = [];
  const isOther = (path: readonly string[]): boolean => path.join(".") !== step.text;
  for (const { path, verdict } of walk(root, EntryBudget.ofRoot(), isOther)) {
    // A file directly under the root belongs to no step.
    if (path.length === 0) continue;
    for (const [segment, entry] of verdict.leaves) {
      const full = [...path, segment].join(".");
      const size = shadowing.has(full) ? undefined : fileSize(entry);
      if (size !== undefined) found.push({ relative: undefined, full, size });
    }
  }
  return found;
}

function withPrefix(visible: readonly Visible[], prefix: string): ListedKey[] {
  // Keys are ASCII, and some letters that are not lowercase into ones that are.
  if (/[^\0-\x7f]/.test(prefix)) return [];
  const start = prefix.toLowerCase();
  return visible.flatMap(({ relative, full, size }) => {
    const key = [relative, full].find((form) => form?.startsWith(start));
    return key === undefined ? [] : [{ key, size }];
  });
}

import { compareKeys, foldNameBytes } from "../contract/key.ts";
import { EntryBudget } from "./entry-budget.ts";
import { fileSize } from "./file-size.ts";
import { fullKey, relativeKey } from "./own-prefix.ts";
import type { Step } from "./step.ts";
import { walk } from "./walk.ts";

/** A variable that loading finds. */
export interface Visible {
  /** Undefined where only the full key reaches it. */
  readonly relative: string | undefined;
  readonly full: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Own variables, and the relative keys that stop at the own folder: theirs, and the ambiguous ones, which
 * loading refuses. Throws `step_entries_exceeded` (WV-5).
 */
export function findOwn({ own, path: step, limits }: Step): {
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

/** Inputs and other steps' variables, but those that an own key hides. Throws `unsafe_path` past 65536 entries. */
export function findOthers(
  { root, path: step }: Step,
  shadowing: ReadonlySet<string>,
): readonly Visible[] {
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

/** Every form in which an own variable can be asked for, sorted. Throws as `findOwn`. */
export function ownKeys(step: Step): readonly string[] {
  return formsOf(findOwn(step).found);
}

/** Every form in which any visible variable can be asked for, sorted. Throws as `findOwn` and `findOthers`. */
export function visibleKeys(step: Step): readonly string[] {
  const { found, shadowing } = findOwn(step);
  return formsOf([...found, ...findOthers(step, shadowing)]);
}

function formsOf(visible: readonly Visible[]): readonly string[] {
  const forms = visible.flatMap(({ relative, full }) =>
    relative === undefined ? [full] : [relative, full],
  );
  forms.sort(compareKeys);
  return forms;
}

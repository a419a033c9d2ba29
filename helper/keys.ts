import { compareKeys } from "../contract/key.ts";
import { withStep, type Env } from "./step.ts";
import { findOthers, findOwn, type Visible } from "./visible.ts";

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

function withPrefix(visible: readonly Visible[], prefix: string): ListedKey[] {
  // Keys are ASCII, and some letters that are not lowercase into ones that are.
  if (/[^\0-\x7f]/.test(prefix)) return [];
  const start = prefix.toLowerCase();
  return visible.flatMap(({ relative, full, size }) => {
    const key = [relative, full].find((form) => form?.startsWith(start));
    return key === undefined ? [] : [{ key, size }];
  });
}

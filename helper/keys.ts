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
 * dotfiles, names that are no keys and values over the limit are left out; what is no UTF-8 only a reader sees. Sorted. Throws what `withStep` throws and `step_entries_exceeded`.
 */
export function listKeys(env: Env, prefix?: string): ListedKey[] {
  return withStep(env, (step) => {
    const own = findOwn(step);
    const visible =
      prefix === undefined ? own.found : [...own.found, ...findOthers(step, own.shadowing)];
    const small = visible.filter(({ size }) => size <= step.limits.max_value_bytes);
    const listed =
      prefix === undefined
        ? small.map(({ relative, full, size }) => ({ key: relative ?? full, size }))
        : withPrefix(small, prefix);
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

import { withoutExtension } from "./file-extension.ts";
import type { Saved } from "./save.ts";

/**
 * `report.md` is a valid key, and seldom the one that was meant. Completes "<full key> …" as `manglingSigns`
 * do; undefined where nothing looks like a file's name.
 */
export function extensionSign({ own }: Saved): string | undefined {
  const bare = withoutExtension(own)?.join(".");
  return bare === undefined
    ? undefined
    : `is a file in a folder, since a dot makes a folder: if ${bare} was meant, drop the extension`;
}

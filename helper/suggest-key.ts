import { nearestName } from "../contract/nearest-name.ts";
import { withoutExtension } from "./file-extension.ts";

/**
 * `; did you mean judge.verdict?`, to end the message of an absent key with: the key without a file's
 * extension where that exists, else the nearest of the known ones (WV-14). Undefined where none is near, or
 * where the known ones cannot be listed: that is not what the caller asked for.
 */
export function suggestKey(
  segments: readonly string[],
  known: () => readonly string[],
): string | undefined {
  const nearest = nearestKey(segments, listed(known));
  return nearest === undefined ? undefined : `; did you mean ${nearest}?`;
}

function nearestKey(segments: readonly string[], known: readonly string[]): string | undefined {
  const bare = withoutExtension(segments)?.join(".");
  if (bare !== undefined && known.includes(bare)) return bare;
  return nearestName(segments.join("."), known);
}

function listed(known: () => readonly string[]): readonly string[] {
  try {
    return known();
  } catch {
    return [];
  }
}

import { escapePath } from "../../contract/escape.ts";
import { maxListedIssues, type Rejection, type Skip } from "../../contract/pack.ts";

/** Path bytes and what is wrong there. */
type At<T> = T & { readonly bytes: Uint8Array };

/**
 * What a walk left out and noticed, sorted by path bytes; the first 100 of each are listed, the rest counted
 * per code (WV-11).
 */
export class Issues {
  readonly #rejected: At<Omit<Rejection, "path">>[] = [];
  readonly #skipped: At<Omit<Skip, "path">>[] = [];

  /** An empty path is the own folder itself, written `.`. */
  reject(path: Uint8Array, issue: Omit<Rejection, "path">): void {
    this.#rejected.push({ ...issue, bytes: path });
  }

  skip(path: Uint8Array, code: Skip["code"]): void {
    this.#skipped.push({ code, bytes: path });
  }

  list(): { rejected: Rejection[]; skipped: Skip[]; more: Record<string, number> } {
    const more = new Map<string, number>();
    const rejected = listed(this.#rejected, more);
    const skipped = listed(this.#skipped, more);
    const counted = [...more].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return { rejected, skipped, more: Object.fromEntries(counted) };
  }
}

function listed<T extends { readonly code: string; readonly bytes: Uint8Array }>(
  issues: readonly T[],
  more: Map<string, number>,
): (Omit<T, "bytes"> & { path: string })[] {
  const sorted = issues.toSorted(
    (a, b) => Buffer.compare(a.bytes, b.bytes) || (a.code < b.code ? -1 : 1),
  );
  for (const { code } of sorted.slice(maxListedIssues)) more.set(code, (more.get(code) ?? 0) + 1);
  return sorted
    .slice(0, maxListedIssues)
    .map(({ bytes, ...issue }) => ({ ...issue, path: escapePath(bytes) || "." }));
}

const extensions: ReadonlySet<string> = new Set("md txt json yaml yml csv html log".split(" "));

/**
 * The key that was meant where a file's name was given for one: `report` of `report.md`, which is the file
 * `MD` in the folder `report`. Undefined where the last segment is no extension, or the only one.
 */
export function withoutExtension(segments: readonly string[]): readonly string[] | undefined {
  const last = segments.at(-1);
  return segments.length > 1 && last !== undefined && extensions.has(last)
    ? segments.slice(0, -1)
    : undefined;
}

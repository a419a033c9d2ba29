import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder, for its owner alone, and those above it. Node's own recursive mkdir goes round for ever where the
 * file system says ENOENT to a folder in one that is there, as /proc does.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}

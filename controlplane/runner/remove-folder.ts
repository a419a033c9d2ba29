import { existsSync } from "node:fs";
import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Removes a step's folder. What was prefilled there is closed to writing, and who is not root must open it
 * first.
 */
export async function removeFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  await openFolders(folder);
  await rm(folder, { recursive: true, force: true });
}

/** Links are not followed: a folder here is one by its own entry. */
async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(folder, entry.name));
  }
}

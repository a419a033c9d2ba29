import { chmod, constants, copyFile, lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { errnoOf } from "./descriptor.ts";
import { SidecarError } from "./sidecar-error.ts";

/**
 * Copies the agent's kit out of the sidecar's image into a volume, for agents whose image has none. Each file
 * appears whole under its name, and a second run replaces what the first left, finished or not. Only files and
 * folders: a link in a kit would point into another container's root. Runs before anything else of the pod
 * that could write to the volume.
 */

/** What the agent's container is started with; a kit without them is none. */
const essentials = ["bin/tini", "bin/entrypoint"];

/**
 * Gives the number of files. Throws `config_invalid` where there is no kit at `source` or no folder at
 * `target`, `volume_unusable` where the copy fails.
 */
export async function installKit(source: string, target: string): Promise<number> {
  for (const file of essentials) {
    if ((await kindOf(join(source, file))) === "file") continue;
    throw new SidecarError(
      "config_invalid",
      `WFVAR_INSTALL_KIT: this image carries no kit: ${file} is not in ${source} (WFVAR_KIT_DIR); use an image with the kit, or an agent's image that has it`,
    );
  }
  if ((await kindOf(target)) !== "folder") {
    throw new SidecarError(
      "config_invalid",
      "WFVAR_INSTALL_KIT must be a folder that is there and no link: mount the kit's volume at it",
    );
  }
  if (`${resolve(target)}/`.startsWith(`${resolve(source)}/`)) {
    throw new SidecarError("config_invalid", "WFVAR_INSTALL_KIT must not lie in WFVAR_KIT_DIR");
  }
  try {
    return await copyEntries(source, target, "");
  } catch (error) {
    const errno = error instanceof SidecarError ? "" : errnoOf(error);
    if (errno === "") throw error;
    const message = `the kit cannot be copied to WFVAR_INSTALL_KIT: ${errno}`;
    throw new SidecarError("volume_unusable", message, { cause: error });
  }
}

/** `path` is relative to both, for messages. */
async function copyEntries(source: string, target: string, path: string): Promise<number> {
  let files = 0;
  for (const name of await readdir(source)) {
    const [from, to, below] = [join(source, name), join(target, name), join(path, name)];
    const kind = await kindOf(from);
    const { mode } = await lstat(from);
    if (kind === "file") {
      await copyWhole(from, to, mode & 0o777);
      files += 1;
    } else if (kind === "folder") {
      await openFolder(to, below);
      files += await copyEntries(from, to, below);
      await chmod(to, mode & 0o777);
    } else {
      throw new SidecarError(
        "config_invalid",
        `the kit holds ${below}, which is neither a file nor a folder: build it without links`,
      );
    }
  }
  return files;
}

/** Writable while it is being filled, also where an earlier run has closed it. */
async function openFolder(folder: string, path: string): Promise<void> {
  const there = await kindOf(folder);
  if (there === "other" || there === "file") {
    const message = `${path} in WFVAR_INSTALL_KIT is no folder: give prefill a volume of its own`;
    throw new SidecarError("volume_unusable", message);
  }
  if (there === undefined) await mkdir(folder);
  await chmod(folder, 0o755);
}

async function copyWhole(from: string, to: string, mode: number): Promise<void> {
  const partial = `${to}.partial`;
  await rm(partial, { force: true });
  await copyFile(from, partial, constants.COPYFILE_EXCL);
  await chmod(partial, mode);
  await rename(partial, to);
}

async function kindOf(path: string): Promise<"file" | "folder" | "other" | undefined> {
  try {
    const stats = await lstat(path);
    return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(error))) return undefined;
    throw error;
  }
}

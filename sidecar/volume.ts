import { closeSync } from "node:fs";
import { errnoOf, openRoot, procWorks } from "./descriptor.ts";
import { SidecarError } from "./sidecar-error.ts";

/**
 * Opens the shared volume, which must be a folder and no link, where descriptors can be reached through /proc
 * (WV-11). Throws `volume_unusable`.
 */
export function openVolume(root: string): number {
  let fd: number;
  try {
    fd = openRoot(root);
  } catch (error) {
    throw new SidecarError("volume_unusable", explain(errnoOf(error)), { cause: error });
  }
  if (procWorks(fd)) return fd;
  closeSync(fd);
  throw new SidecarError("volume_unusable", "/proc is needed to walk the volume safely: mount it");
}

function explain(errno: string): string {
  switch (errno) {
    case "ENOENT":
      return "the volume does not exist: mount it, or set WORKFLOW_VARIABLES_ROOT";
    case "ENOTDIR":
    case "ELOOP":
      return "the volume is a link or a file: WORKFLOW_VARIABLES_ROOT must be the folder itself";
    case "EACCES":
      return "the volume may not be read: give this user rights on it (fsGroup, or mode 0777)";
    default:
      return `the volume cannot be opened: ${errno}`;
  }
}

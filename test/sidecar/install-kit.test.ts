import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { installKit } from "../../sidecar/install-kit.ts";
import { SidecarError } from "../../sidecar/sidecar-error.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { podEnv, runSidecar } from "../support/sidecar.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { makeTree } from "../support/tree.ts";

/** A kit as an image has it, and an empty volume. */
function kitAndVolume(lines: readonly string[] = []): { kit: string; volume: string } {
  const [kit, volume] = [tempFolder(), tempFolder()];
  makeTree(kit, [
    "bin/tini=tini",
    "bin/entrypoint=#!/bin/sh\n",
    "lib/wfvar.cjs=code",
    "finalize.d/",
    ...lines,
  ]);
  for (const file of ["bin/tini", "bin/entrypoint"]) chmodSync(join(kit, file), 0o755);
  chmodSync(join(kit, "lib/wfvar.cjs"), 0o444);
  chmodSync(join(kit, "lib"), 0o555);
  return { kit, volume };
}

const mode = (...path: string[]): number => statSync(join(...path)).mode & 0o777;

async function problemOf(installing: Promise<unknown>): Promise<[string, string]> {
  const error = await installing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SidecarError)) throw new Error("it was installed", { cause: error });
  return [error.code, error.message];
}

describe("installKit", () => {
  it("copies every file and folder with its mode, whatever the umask", async () => {
    const { kit, volume } = kitAndVolume();
    const umask = process.umask(0o077);
    try {
      expect(await installKit(kit, volume)).toBe(3);
    } finally {
      process.umask(umask);
    }
    expect(readFileSync(join(volume, "lib/wfvar.cjs"), "utf8")).toBe("code");
    expect([
      mode(volume, "bin/tini"),
      mode(volume, "lib/wfvar.cjs"),
      mode(volume, "lib"),
      mode(volume, "finalize.d"),
    ]).toEqual([0o755, 0o444, 0o555, mode(kit, "finalize.d")]);
  });

  it("replaces what an earlier run left, finished or not, and a link without following it", async () => {
    const { kit, volume } = kitAndVolume();
    const elsewhere = tempFolder();
    await installKit(kit, volume);
    makeTree(volume, ["bin/tini.partial=ti", "bin/entrypoint=old"]);
    makeTree(elsewhere, ["tini=untouched"]);
    rmSync(join(volume, "bin/tini"));
    symlinkSync(join(elsewhere, "tini"), join(volume, "bin/tini"));
    expect(await installKit(kit, volume)).toBe(3);
    expect(lstatSync(join(volume, "bin/tini")).isFile()).toBe(true);
    expect(readFileSync(join(volume, "bin/entrypoint"), "utf8")).toBe("#!/bin/sh\n");
    expect(readFileSync(join(elsewhere, "tini"), "utf8")).toBe("untouched");
    expect(existsSync(join(volume, "bin/tini.partial"))).toBe(false);
  });

  it.each(["bin/tini", "bin/entrypoint"])(
    "says that an image without %s carries no kit",
    async (file) => {
      const { kit, volume } = kitAndVolume();
      rmSync(join(kit, file));
      expect(await problemOf(installKit(kit, volume))).toEqual([
        "config_invalid",
        `WFVAR_INSTALL_KIT: this image carries no kit: ${file} is not in ${kit} (WFVAR_KIT_DIR); use an image with the kit, or an agent's image that has it`,
      ]);
    },
  );

  it.each([
    ["a link", "lib/x->/etc/passwd", "lib/x"],
    ["a link to a folder", "hooks->/etc", "hooks"],
    ["a FIFO", "lib/pipe|", "lib/pipe"],
  ])("refuses a kit with %s", async (_, line, path) => {
    const { kit, volume } = kitAndVolume();
    chmodSync(join(kit, "lib"), 0o755);
    makeTree(kit, [line]);
    expect(await problemOf(installKit(kit, volume))).toEqual([
      "config_invalid",
      `the kit holds ${path}, which is neither a file nor a folder: build it without links`,
    ]);
  });

  it("refuses a volume where a link stands for one of the kit's folders", async () => {
    const { kit, volume } = kitAndVolume();
    const elsewhere = tempFolder();
    symlinkSync(elsewhere, join(volume, "bin"));
    expect(await problemOf(installKit(kit, volume))).toEqual([
      "volume_unusable",
      "bin in WFVAR_INSTALL_KIT is no folder: give prefill a volume of its own",
    ]);
    expect(existsSync(join(elsewhere, "tini"))).toBe(false);
  });

  it.each([
    ["is not there", (folder: string) => join(folder, "absent")],
    ["is a file", (folder: string) => (makeTree(folder, ["file=x"]), join(folder, "file"))],
    [
      "is a link",
      (folder: string) => (symlinkSync("/tmp", join(folder, "link")), join(folder, "link")),
    ],
  ])("refuses a target that %s", async (_, make) => {
    const { kit, volume } = kitAndVolume();
    expect(await problemOf(installKit(kit, make(volume)))).toEqual([
      "config_invalid",
      "WFVAR_INSTALL_KIT must be a folder that is there and no link: mount the kit's volume at it",
    ]);
  });

  it("refuses a target within the kit, which would never end", async () => {
    const { kit } = kitAndVolume();
    expect(await problemOf(installKit(kit, join(kit, "finalize.d")))).toEqual([
      "config_invalid",
      "WFVAR_INSTALL_KIT must not lie in WFVAR_KIT_DIR",
    ]);
  });
});

describe("wfvar-sidecar prefill --install-kit", () => {
  it("installs the kit and fills the volume", async () => {
    const { kit, volume } = kitAndVolume();
    const cp = await startControlPlane();
    const stamped = await cp.stamp(await cp.createRun(), { step: "judge" });
    const root = tempFolder();
    const flags = ["--install-kit", volume, "--kit-dir", kit];
    const { code, log } = await runSidecar("prefill", podEnv(stamped, root, cp.stepUrl), flags);
    expect([code, log.map(({ event }) => event)]).toEqual([0, ["kit_installed", "prefilled"]]);
    expect(mode(volume, "bin/entrypoint")).toBe(0o755);
    expect(existsSync(join(root, "judge"))).toBe(true);
  });

  it("exits with 2 where the image carries no kit, and asks the control plane nothing", async () => {
    const { volume } = kitAndVolume();
    const cp = await startControlPlane();
    const stamped = await cp.stamp(await cp.createRun(), { step: "judge" });
    const root = tempFolder();
    const empty = join(tempFolder(), "kit");
    mkdirSync(empty);
    const flags = ["--install-kit", volume, "--kit-dir", empty];
    const { code, log } = await runSidecar("prefill", podEnv(stamped, root, cp.stepUrl), flags);
    expect([code, log.map(({ event }) => event)]).toEqual([2, ["failed"]]);
    expect(existsSync(join(root, "judge"))).toBe(false);
  });
});

import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync, type Metafile } from "esbuild";

/** The kit's `wfvar` and late commands, bundled as they ship. */
export interface WfvarKit extends Disposable {
  readonly folder: string;
  readonly bundle: string;
  readonly launcher: string;
  readonly metafile: Metafile;
}

/** `mcp` is large, and few tests need it. */
export function wfvarKit(late: readonly string[] = ["check", "brief"]): WfvarKit {
  const folder = mkdtempSync(join(tmpdir(), "wfvar-kit-"));
  const bundle = join(folder, "lib/wfvar.cjs");
  const launcher = join(folder, "bin/wfvar");
  const { metafile } = buildSync({
    entryPoints: {
      wfvar: "helper/main.ts",
      ...Object.fromEntries(late.map((name) => [name, `helper/late/${name}.ts`])),
    },
    outdir: join(folder, "lib"),
    outExtension: { ".js": ".cjs" },
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node18",
    minify: true,
    metafile: true,
  });
  mkdirSync(join(folder, "bin"));
  cpSync("helper/bin/wfvar", launcher);
  return {
    folder,
    bundle,
    launcher,
    metafile,
    [Symbol.dispose]: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
  readonly uid?: number;
}

/** Runs the bundle to its end. Stdin is empty unless `input` is given. */
export function runWfvar(
  kit: WfvarKit,
  argv: readonly string[],
  { env = {}, input, uid }: RunOptions = {},
): SpawnSyncReturns<Buffer> {
  return spawnSync(process.execPath, [kit.bundle, ...argv], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    ...(input === undefined ? {} : { input }),
    ...(uid === undefined ? {} : { uid }),
  });
}

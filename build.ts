import { chmod, cp, mkdir, rm, writeFile } from "node:fs/promises";
import { build, type BuildOptions, type Metafile } from "esbuild";

/**
 * Makes everything that ships, under dist/. The agent's side is one file per entry with no dependency; the
 * sidecar is split, so that what delivery needs is not loaded while it waits. `dist/meta.json` says which
 * sources went into which bundle.
 */

const agentTarget = "node18";
const ownTarget = "node24";

/** Bundled CommonJS packages call `require` for Node's built-ins, which ES modules lack. */
const requireBanner =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

const shared = {
  bundle: true,
  platform: "node",
  metafile: true,
  logLevel: "warning",
  legalComments: "linked",
} satisfies BuildOptions;

/** Names and lines are kept: Node prints the line of an uncaught error, and a bundle of one line would flood an agent's context. */
function agentFile(
  entry: string,
  outfile: string,
  format: "cjs" | "esm",
  options: BuildOptions = {},
): BuildOptions {
  return {
    ...shared,
    entryPoints: [entry],
    outfile: `dist/agent/${outfile}`,
    format,
    target: agentTarget,
    minifySyntax: true,
    ...options,
  };
}

/** A command starts anew for every call: what it loads is kept small. */
function command(entry: string, outfile: string): BuildOptions {
  return agentFile(entry, outfile, "cjs", { minify: true });
}

/** Every node pulls it; the names stay, for stack traces. */
const small = { minify: true, keepNames: true } satisfies BuildOptions;

function service(name: "sidecar" | "controlplane", options: BuildOptions = {}): BuildOptions {
  return {
    ...shared,
    ...options,
    entryPoints: { main: `${name}/main.ts` },
    outdir: `dist/${name}`,
    outExtension: { ".js": ".mjs" },
    chunkNames: "lib/[name]-[hash]",
    format: "esm",
    splitting: true,
    target: ownTarget,
    banner: { js: requireBanner },
  };
}

const bundles: readonly BuildOptions[] = [
  agentFile("helper/index.ts", "variables/index.mjs", "esm"),
  agentFile("helper/index.ts", "variables/index.cjs", "cjs"),
  command("helper/main.ts", "lib/wfvar.cjs"),
  command("helper/late/check.ts", "lib/check.cjs"),
  command("helper/late/brief.ts", "lib/brief.cjs"),
  command("helper/late/mcp.ts", "lib/mcp.cjs"),
  agentFile("entrypoint/main.ts", "lib/entrypoint.cjs", "cjs"),
  service("sidecar", {
    alias: {
      assert: "./sidecar/stand-ins/assert.cjs",
      "thread-stream": "./sidecar/stand-ins/thread-stream.cjs",
    },
    ...small,
  }),
  service("controlplane", small),
];

/** `import` and `require` of the folder itself: `require("/opt/agent/variables")`. */
const variablesPackage = {
  name: "variables",
  private: true,
  main: "./index.cjs",
  types: "./index.d.ts",
  exports: {
    ".": {
      import: { types: "./index.d.mts", default: "./index.mjs" },
      require: { types: "./index.d.ts", default: "./index.cjs" },
    },
  },
};

await rm("dist", { recursive: true, force: true });
const results = await Promise.all(bundles.map((options) => build(options)));
await mkdir("dist/agent/bin", { recursive: true });
await Promise.all([
  cp("helper/bin/wfvar", "dist/agent/bin/wfvar"),
  cp("entrypoint/bin/entrypoint", "dist/agent/bin/entrypoint"),
  cp("helper/python/variables", "dist/agent/variables", {
    recursive: true,
    filter: (file) => !file.includes("__pycache__"),
  }),
  cp("controlplane/python/wfvar_cp.py", "dist/controlplane/python/wfvar_cp.py"),
  // Under both names: for the folder, and for the file `index.mjs`, beside which TypeScript looks for its own.
  cp("helper/variables.d.ts", "dist/agent/variables/index.d.ts"),
  cp("helper/variables.d.ts", "dist/agent/variables/index.d.mts"),
  writeFile("dist/agent/variables/package.json", `${JSON.stringify(variablesPackage, null, 2)}\n`),
  writeFile(
    "dist/meta.json",
    JSON.stringify(mergeOutputs(results.map((result) => result.metafile))),
  ),
]);
const executables = [
  "agent/bin/wfvar",
  "agent/bin/entrypoint",
  "agent/lib/wfvar.cjs",
  "agent/lib/entrypoint.cjs",
  "sidecar/main.mjs",
  "controlplane/main.mjs",
];
await Promise.all(executables.map((file) => chmod(`dist/${file}`, 0o755)));

function mergeOutputs(metafiles: readonly (Metafile | undefined)[]): Metafile["outputs"] {
  return Object.assign({}, ...metafiles.map((metafile) => metafile?.outputs));
}

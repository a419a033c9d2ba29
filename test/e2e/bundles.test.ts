import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dist } from "../support/dist.ts";

interface Output {
  readonly inputs: Record<string, unknown>;
  readonly imports: readonly {
    readonly path: string;
    readonly kind: string;
    readonly external?: boolean;
  }[];
}

const meta = JSON.parse(readFileSync(join(dist, "meta.json"), "utf8")) as Record<string, Output>;
const agentBundles = Object.entries(meta).filter(([file]) => file.startsWith("dist/agent/"));

describe("the agent's bundles", () => {
  it("are all there", () => {
    expect(agentBundles.map(([file]) => file).toSorted()).toEqual([
      "dist/agent/lib/brief.cjs",
      "dist/agent/lib/check.cjs",
      "dist/agent/lib/entrypoint.cjs",
      "dist/agent/lib/mcp.cjs",
      "dist/agent/lib/wfvar.cjs",
      "dist/agent/variables/index.cjs",
      "dist/agent/variables/index.mjs",
    ]);
  });

  it.each(agentBundles)(
    "%s holds nothing but helper, entrypoint, contract and node:",
    (bundle, { inputs, imports }) => {
      expect(Object.keys(inputs).length).toBeGreaterThan(0);
      // The MCP server alone brings packages: it is loaded where it is asked for.
      const own = bundle.endsWith("/mcp.cjs")
        ? /^(helper|contract|node_modules)\//
        : /^(helper|entrypoint|contract)\//;
      for (const file of Object.keys(inputs)) expect(file).toMatch(own);
      expect(Object.keys(inputs)).not.toContain("contract/wire.ts");
      for (const { path } of imports) expect(path).toMatch(/^node:/);
    },
  );

  it.each([
    ["index.cjs", ["-e", `require("${dist}/agent/variables/index.cjs").load("nope")`]],
    [
      "index.mjs",
      [
        "--input-type=module",
        "-e",
        `import { load } from "${dist}/agent/variables/index.mjs"; load("nope")`,
      ],
    ],
  ])("%s floods no agent's context with itself where an error is not caught", (_name, args) => {
    const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: {} });
    expect(stderr).toContain("no_variables");
    expect(stderr.length).toBeLessThan(4096);
  });

  it("keep helper and entrypoint apart, but for what the entrypoint may take", () => {
    for (const [file, { inputs }] of agentBundles) {
      if (file.endsWith("entrypoint.cjs")) continue;
      expect(Object.keys(inputs).filter((input) => input.startsWith("entrypoint/"))).toEqual([]);
    }
  });

  it("keep what agents call again and again within 40 KiB", () => {
    expect(statSync(join(dist, "agent/lib/wfvar.cjs")).size).toBeLessThanOrEqual(40 * 1024);
  });

  it("can be started by name", () => {
    for (const file of [
      "agent/bin/wfvar",
      "agent/bin/entrypoint",
      "agent/lib/wfvar.cjs",
      "sidecar/main.mjs",
      "controlplane/main.mjs",
    ]) {
      expect(statSync(join(dist, file)).mode & 0o111).toBe(0o111);
      expect(readFileSync(join(dist, file), "utf8").startsWith("#!")).toBe(true);
    }
  });
});

/** The sources of these bundles and of all that they import as they start. */
function sourcesOf(bundles: readonly string[]): readonly string[] {
  const loaded = new Set<string>();
  const follow = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const { path, kind, external } of meta[file]?.imports ?? []) {
      if (kind === "import-statement" && !external) follow(path);
    }
  };
  bundles.forEach(follow);
  return [...loaded].flatMap((file) => Object.keys(meta[file]?.inputs ?? {}));
}

/** The chunk that begins with this module, imported when its turn comes. */
function chunkOf(service: string, name: string): string {
  const start = `dist/${service}/lib/${name}-`;
  const chunk = Object.keys(meta).find((file) => file.startsWith(start) && file.endsWith(".mjs"));
  if (chunk === undefined) throw new Error(`no chunk ${name} of ${service}`);
  return chunk;
}

describe("the control plane", () => {
  it("loads the conformance suite, its HTTP client and PostgreSQL's where they are asked for alone", () => {
    const served = sourcesOf(["dist/controlplane/main.mjs", chunkOf("controlplane", "wfvar-cp")]);
    expect(served).toContain("controlplane/api/step-api.ts");
    const others = /^controlplane\/conformance\/|node_modules\/(undici|pg)\//;
    expect(served.filter((source) => others.test(source))).toEqual([]);
    const asked = sourcesOf([chunkOf("controlplane", "conformance-command")]);
    expect(asked).toContain("controlplane/conformance/all-checks.ts");
  });
});

describe("the sidecar", () => {
  it("loads neither HTTP client, schemas, tar nor YAML before it delivers", () => {
    // These two are imported when their turn comes; what pack-command imports in turn is for delivery.
    const chunks = ["run", "pack-command"].map((name) => chunkOf("sidecar", name));
    const inputs = sourcesOf(["dist/sidecar/main.mjs", ...chunks]);
    expect(inputs).toContain("sidecar/wait.ts");
    expect(
      inputs.filter((input) => /node_modules\/(undici|zod|tar-stream|yaml)\//.test(input)),
    ).toEqual([]);
  });
});

/** `import { z }` takes along zod's whole namespace, a quarter of a megabyte of translations with it. */
it.each(Object.entries(meta))("%s speaks English alone", (_, { inputs }) => {
  const locales = Object.keys(inputs).filter((input) => /\/zod\/.*\/locales\//.test(input));
  expect(locales.filter((input) => !/\/en\.c?js$/.test(input))).toEqual([]);
});

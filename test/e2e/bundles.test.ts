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

describe("the sidecar", () => {
  it("loads neither HTTP client, schemas, tar nor YAML before it delivers", () => {
    const loaded = new Set<string>();
    const follow = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const { path, kind, external } of meta[file]?.imports ?? []) {
        if (kind === "import-statement" && !external) follow(path);
      }
    };
    follow("dist/sidecar/main.mjs");
    // These two are imported when their turn comes; what pack-command imports in turn is for delivery.
    for (const entry of ["run", "pack-command"]) {
      const chunk = Object.keys(meta).find((file) => file.startsWith(`dist/sidecar/lib/${entry}-`));
      expect(chunk).toBeDefined();
      follow(chunk ?? "");
    }
    const inputs = [...loaded].flatMap((file) => Object.keys(meta[file]?.inputs ?? {}));
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

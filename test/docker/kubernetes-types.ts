import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Resource } from "./manifests.ts";

/**
 * Kubernetes' own opinion of manifests, without a cluster: the API's schemas, which know what a field must be, and
 * its types, which know what fields there are.
 */

/** What the schemas find wrong with a resource; throws for a kind that has none. */
export async function schemaErrors(resource: Resource): Promise<unknown[]> {
  const module = (await import(moduleOf(resource))) as Record<string, Model>;
  const model = module[resource.kind];
  if (model === undefined) throw new Error(`no schema for ${resource.kind}`);
  try {
    new model(resource).validate();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : error];
  }
}

type Model = new (data: Resource) => { readonly validate: () => void };

/**
 * What the types find wrong: fields that Kubernetes does not know, which the schemas let pass. A field that is
 * missing is for the schemas alone to find, since a patch is not whole.
 */
export function typeErrors(resources: readonly Resource[]): string[] {
  // Below node_modules, where the types are found.
  const cache = resolve("node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "manifests-"));
  try {
    const lines = resources.map(
      (resource, index) =>
        `export const _${String(index)}: import("${moduleOf(resource)}").I${resource.kind} = ${JSON.stringify(resource)};`,
    );
    writeFileSync(join(folder, "manifests.ts"), lines.join("\n"));
    const flags =
      "--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2024 --types node";
    execFileSync("tsc", [...flags.split(" "), "manifests.ts"], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: `${resolve("node_modules", ".bin")}:${process.env["PATH"] ?? ""}` },
    });
    return [];
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (!stdout) throw error;
    return stdout
      .trim()
      .split("\n")
      .filter((line) => !line.includes("TS2741"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function moduleOf({ apiVersion, kind }: Resource): string {
  const models = apiVersion.startsWith("argoproj.io/")
    ? "@kubernetes-models/argo-workflows"
    : "kubernetes-models";
  return `${models}/${apiVersion}/${kind}`;
}

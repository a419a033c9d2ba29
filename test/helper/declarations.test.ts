import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { dist } from "../support/dist.ts";
import { tempFolder } from "../support/temp-folder.ts";

const tsc = resolve("node_modules", ".bin", "tsc");
const options = {
  module: "nodenext",
  target: "es2024",
  lib: ["es2024"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: false,
};

/** Compiles the files in a project of their own; gives the compiler's complaints, a line each. */
function compile(
  files: Readonly<Record<string, string>>,
  more: Readonly<Record<string, unknown>> = {},
): string[] {
  const folder = tempFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, ...more }, files: Object.keys(files) }),
  );
  // The kit stands where an agent's image has it, and as the npm package.
  cpSync(join(dist, "agent", "variables"), join(folder, "variables"), { recursive: true });
  const installed = join(folder, "node_modules", "wfvar");
  mkdirSync(installed, { recursive: true });
  cpSync("package.json", join(installed, "package.json"));
  cpSync(join(dist, "agent"), join(installed, "dist", "agent"), { recursive: true });
  const { stdout } = spawnSync(tsc, ["-p", folder, "--pretty", "false"], {
    encoding: "utf8",
    cwd: folder,
  });
  return stdout.split("\n").filter((line) => line !== "");
}

const use = `
const value: string = load("verdict");
const other: string = load("verdict", "none");
save("verdict", value + other);
const all: string[] = [...keys(), ...keys("plan.")];
try { load(all.join()); } catch (error) {
  if (error instanceof VariablesError && error.code === "not_found") {
    const said: [string, string | undefined, number | undefined] = [error.message, error.key, error.limit];
    said.pop();
  }
}
const code: HelperCode = "value_too_large";
code.at(0);
`;

describe("the declarations that ship (WV-13)", () => {
  it.each([
    ["the file of the kit, imported", "use.mts", "./variables/index.mjs"],
    ["the folder of the kit, required", "use.cts", "./variables"],
    ["the package, imported", "use.mts", "wfvar"],
    ["the package, required", "use.cts", "wfvar"],
  ])("fit %s, and need nothing else", (_name, file, specifier) => {
    const imports = `import { load, save, keys, VariablesError, type HelperCode } from "${specifier}";`;
    expect(compile({ [file]: imports + use })).toEqual([]);
  });

  it.each([
    ["save('a', 5)", "TS2345"],
    ["save('a')", "TS2554"],
    ["const n: number = load('a')", "TS2322"],
    ["load(undefined)", "TS2345"],
    ["load('a').nope", "TS2339"],
  ])("refuse %s with %s", (line, code) => {
    const imports = `import { load, save, keys } from "./variables/index.mjs"; keys; save; load;\n`;
    const complaints = compile({ "use.mts": imports + line });
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toContain(code);
  });

  it("say the same as the sources, both ways", () => {
    const source = JSON.stringify(resolve("helper", "index.ts"));
    const same = `
import * as sources from ${source};
import * as declared from "./variables/index.mjs";
import type { HelperCode as SourceCode } from ${source};
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
export const code: Same<SourceCode, declared.HelperCode> = true;
export const load: Same<typeof sources.load, typeof declared.load> = true;
export const save: Same<typeof sources.save, typeof declared.save> = true;
export const keys: Same<typeof sources.keys, typeof declared.keys> = true;
export const error: Same<sources.VariablesError, declared.VariablesError> = true;
export const construct: Same<
  ConstructorParameters<typeof sources.VariablesError>,
  ConstructorParameters<typeof declared.VariablesError>
> = true;
export const names: Same<keyof typeof sources, keyof typeof declared> = true;
`;
    const complaints = compile(
      { "same.mts": same },
      {
        allowImportingTsExtensions: true,
        types: ["node"],
        typeRoots: [resolve("node_modules", "@types")],
        skipLibCheck: true,
      },
    );
    expect(complaints).toEqual([]);
  });

  it("are the same under both names", () => {
    const read = (name: string) => readFileSync(join(dist, "agent", "variables", name), "utf8");
    expect(read("index.d.mts")).toBe(read("index.d.ts"));
  });
});

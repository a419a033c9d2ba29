import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { removeFolder } from "../../../controlplane/runner/remove-folder.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { makeTree } from "../../support/tree.ts";

it("removes folders that a prefill closed, and leaves alone what links in them lead to", async () => {
  const around = tempFolder();
  makeTree(around, ["outside/KEEP=x", "step/variables/inspect/deep/V=1"]);
  symlinkSync(join(around, "outside"), join(around, "step/variables/inspect/LINK"));
  for (const folder of ["inspect/deep", "inspect"])
    chmodSync(join(around, "step/variables", folder), 0o555);
  await removeFolder(join(around, "step"));
  expect(existsSync(join(around, "step"))).toBe(false);
  expect(readFileSync(join(around, "outside/KEEP"), "utf8")).toBe("x");
});

it("does so for a user who is not root", () => {
  const around = tempFolder();
  chmodSync(around, 0o777);
  // As root nothing is ever closed, so the folders are made and removed by somebody else.
  const script = join(import.meta.dirname, "fixtures", "remove-as-nobody.ts");
  execFileSync(process.execPath, [script, around], { stdio: "inherit" });
  expect(existsSync(join(around, "step"))).toBe(false);
});

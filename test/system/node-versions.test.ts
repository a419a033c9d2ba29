import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseMarker } from "../../contract/marker.ts";
import { dist } from "../support/dist.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { makeTree } from "../support/tree.ts";

/** Kept from one run to the next: each is a hundred megabytes. */
const cache = resolve("node_modules", ".cache", "node-versions");

/** The folder of a Node of that major version, installed from the registry where it is not there yet. */
function installNode(major: number): string {
  const folder = join(cache, String(major));
  const bin = join(folder, "node_modules", "node", "bin");
  if (!existsSync(join(bin, "node"))) {
    mkdirSync(folder, { recursive: true });
    const manifest = { private: true, allowScripts: { node: true } };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    execFileSync("npm", ["install", "--no-audit", "--no-fund", `node@${String(major)}`], {
      cwd: folder,
      stdio: "ignore",
    });
  }
  return bin;
}

// npm's own Node runs the install script, and so must be one that npm supports; the tests run on any.
describe.each([18, 20, 22, 24, 26])("what goes into agent images, on Node %d", (major) => {
  let path = "";
  beforeAll(() => {
    path = `${installNode(major)}:/usr/bin:/bin`;
  });

  function step(): { root: string; env: Record<string, string> } {
    const root = tempFolder();
    makeTree(root, ["judge/", "inspect/FINDINGS=[1]\n", "workflow/item.uuid=u-1"]);
    const self = join(root, "judge");
    return {
      root,
      env: { PATH: path, WORKFLOW_VARIABLES_ROOT: root, WORKFLOW_VARIABLES_SELF: self },
    };
  }

  it("is that version", () => {
    const { stdout } = spawnSync("node", ["--version"], { env: { PATH: path }, encoding: "utf8" });
    expect(stdout).toMatch(new RegExp(`^v${String(major)}\\.`));
  });

  it("runs wfvar", () => {
    const { root, env } = step();
    const wfvar = (...argv: string[]) =>
      spawnSync(join(dist, "agent", "bin", "wfvar"), argv, { env });
    expect(wfvar("set", "verdict", "ok").status).toBe(0);
    expect(readFileSync(join(root, "judge/VERDICT"), "utf8")).toBe("ok");
    expect(wfvar("get", "inspect.findings").stdout.toString()).toBe("[1]\n");
    expect(wfvar("list", "--all").stdout.toString()).toBe(
      "inspect.findings\nverdict\nworkflow.item.uuid\n",
    );
    expect(wfvar("get", "nope").status).toBe(1);
  });

  it.each([
    ["import", "mjs", `import { load, save, keys } from`, `;`],
    ["require", "cjs", `const { load, save, keys } = require(`, `);`],
  ])("loads the helper by %s", (_, extension, before, after) => {
    const { root, env } = step();
    const module = join(dist, "agent", "variables", extension === "mjs" ? "index.mjs" : "");
    const script = join(root, `.script.${extension}`);
    writeFileSync(
      script,
      `${before} ${JSON.stringify(module)} ${after} save("copy", load("workflow.item.uuid")); console.log(keys().join());`,
    );
    const { stdout, stderr } = spawnSync("node", [script], { env, encoding: "utf8" });
    expect([stderr, stdout]).toEqual(["", "copy\n"]);
    expect(readFileSync(join(root, "judge/COPY"), "utf8")).toBe("u-1");
  });

  it("runs an agent under the entrypoint and leaves its marker", () => {
    const { root, env } = step();
    const argv = ["--", "sh", "-c", "exit 3"];
    const { status } = spawnSync(join(dist, "agent", "bin", "entrypoint"), argv, { env });
    expect(status).toBe(3);
    expect(parseMarker(readFileSync(join(root, ".done")))).toMatchObject({
      outcome: "failed",
      exit_code: 3,
    });
  });
});

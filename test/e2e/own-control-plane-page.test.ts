import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { dist } from "../support/dist.ts";
import { freePort } from "../support/free-port.ts";
import { pythonInterpreter } from "../support/python-interpreter.ts";
import { tempFolder } from "../support/temp-folder.ts";

const page = readFileSync("docs/your-own-control-plane.md", "utf8");
const server = readFileSync("examples/python-control-plane/server.py", "utf8");

function blocks(language: string): string[] {
  const fences = page.matchAll(/^```(\w+)\n([^]*?)^```$/gm);
  return [...fences].flatMap(([, name, text = ""]) => (name === language ? [text] : []));
}

const isConformance = (block: string): boolean => block.includes(" conformance ");
const walkThrough = blocks("sh").filter((block) => !isConformance(block));
const suite = blocks("sh").filter(isConformance);
/** The page's blocks one after the other in one shell, with a folder and a port of the test's own. */
async function run(script: readonly string[]) {
  const port = String(await freePort());
  const here = script
    .join("\n")
    .replaceAll("/tmp/my-cp", tempFolder())
    .replaceAll("8411", port)
    .replaceAll("server.py stamp", `server.py stamp --url http://127.0.0.1:${port}`)
    .replaceAll("server.py fixture", `server.py fixture --url http://127.0.0.1:${port}`);
  return spawnSync("bash", ["-euc", here], {
    env: { PATH: process.env["PATH"], HOME: tempFolder() },
    encoding: "utf8",
    timeout: 170_000,
  });
}

describe("the page for control planes of one's own", () => {
  it("has no block but the kinds that are tested here", () => {
    const fences = page.match(/^```/gm) ?? [];
    const tested = [...walkThrough, ...suite, ...blocks("python")];
    expect(tested.length * 2).toBe(fences.length);
    expect([walkThrough.length, suite.length, blocks("python").length]).toEqual([4, 1, 2]);
  });

  it("has a walk through that works as it is written", async () => {
    const { stdout, stderr, status } = await run(walkThrough);
    expect(status, stderr).toBe(0);
    const [printed = "", stamped = ""] = stdout.split(/(?<=approve)/);
    expect(printed).toMatch(/^run-[0-9a-f]{16}\n?approve$/);
    expect(JSON.parse(stamped)).toMatchObject({ step: "report", attempt: 1 });
    expect(stderr).toMatch(/"event":"prefilled"/);
  });

  it("has an example of the functions that runs", () => {
    const [script = ""] = blocks("python");
    const env = { PYTHONPATH: resolve("controlplane/python"), PYTHONDONTWRITEBYTECODE: "1" };
    const { status, stderr } = spawnSync(pythonInterpreter(), ["-c", script], { env });
    expect([status, stderr.toString()]).toEqual([0, ""]);
    expect(script.match(/^assert /gm)).toHaveLength(3);
  });

  it("shows of the example server what stands in it", () => {
    const [, excerpt = "nothing"] = blocks("python");
    expect(server).toContain(excerpt);
  });

  it("says rightly where the npm package has the Python file", () => {
    expect(page).toContain("`dist/controlplane/python/`");
    const shipped = readFileSync(join(dist, "controlplane/python/wfvar_cp.py"), "utf8");
    expect(shipped).toBe(readFileSync("controlplane/python/wfvar_cp.py", "utf8"));
  });

  it("has a control plane that passes the conformance suite", { timeout: 180_000 }, async () => {
    const [start = ""] = walkThrough;
    const { stdout, stderr, status } = await run([start, ...suite]);
    expect(stdout.split("\n").filter((line) => !line.startsWith("ok "))).toEqual([
      expect.stringMatching(/^\d+ checks: \d+ ok, 0 failed, 0 skipped$/),
      "",
    ]);
    expect(status, stderr).toBe(0);
  });
});

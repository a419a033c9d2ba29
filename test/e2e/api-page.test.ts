import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serveControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

describe("the API page", () => {
  it("has examples that work as they are written, one after the other", async () => {
    const folder = tempFolder();
    const cp = await serveControlPlane(join(folder, ".wfvar"));
    // The conformance suite has tests of its own.
    const [page = ""] = readFileSync("spec/control-plane-api.md", "utf8").split("\n## Conformance");
    const examples = [...page.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, script = ""]) => script);
    const ended = spawnSync(
      "bash",
      [
        "--norc",
        "-uo",
        "pipefail",
        "-c",
        examples.join("echo\n").replace("http://127.0.0.1:8410", cp.operatorUrl),
      ],
      { cwd: folder, timeout: 60_000, encoding: "utf8", env: { PATH: process.env["PATH"] } },
    );
    // The stream of events alone is cut off.
    expect(ended.stderr).toMatch(/^curl: \(28\) [^\n]*\n$/);
    expect(ended.status).toBe(0);
    expect(ended.stdout).not.toContain('"code":');
    const { run, stamp, ...said } = readAnswers(ended.stdout);
    expect(run).toMatchObject({ run: "demo-1", template: "review" });
    expect(stamp).toMatchObject({ run: "demo-1", step: "judge", attempt: 1 });
    expect(said).toEqual({
      lists: 3,
      unchanged: true,
      events: ["run_created", "step_stamped"],
      health: 2,
      metrics: true,
    });
    const document = JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8")) as object;
    expect(document).toMatchObject({ openapi: "3.1.0" });
  });
});

function readAnswers(text: string) {
  const lines = text.split("\n");
  const json = lines.flatMap((line) =>
    line.startsWith("{") && !line.includes("}{")
      ? [JSON.parse(line) as Record<string, unknown>]
      : [],
  );
  return {
    run: json[0],
    stamp: json.find((each) => "token" in each),
    lists: json.filter((each) => "next" in each).length,
    unchanged: lines.includes(".304"),
    events: lines.flatMap((line) => (line.startsWith("event: ") ? [line.slice(7)] : [])),
    health: text.match(/\{"status":"ok"\}/g)?.length,
    metrics: /^wfvar_open_steps 1$/m.test(text),
  };
}

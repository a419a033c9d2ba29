import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { tempFolder } from "../support/temp-folder.ts";

describe("the README", () => {
  it("has a step by hand that works as it is written", async () => {
    const readme = readFileSync("README.md", "utf8");
    const [, script = ""] = /## A step by hand[^]*?```sh\n([^]*?)```/.exec(readme) ?? [];
    const [stepPort, operatorPort] = [await freePort(), await freePort()];
    const here = script
      .replaceAll("/tmp/try", tempFolder())
      .replaceAll("8411", String(stepPort))
      .replaceAll("8410", String(operatorPort))
      // The tests' own build stands, and others use it meanwhile.
      .replace("npm run --silent build\n", "");
    const ended = spawnSync("bash", ["-ec", here], {
      env: { PATH: process.env["PATH"], HOME: tempFolder() },
      encoding: "utf8",
      timeout: 60_000,
    });
    expect(ended.stdout).toMatch(/\.accepted judge\.verdict: 7 bytes$/m);
    expect(ended.stdout).toMatch(/approve$/);
    expect(ended.stderr).toMatch(/^judge\.verdict: 7 bytes$/m);
    expect(ended.status).toBe(0);
  });
});

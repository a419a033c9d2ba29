import { describe, expect, it } from "vitest";
import { runSidecar, sidecarSays } from "../support/sidecar.ts";

describe("wfvar-sidecar", () => {
  it("names the subcommand that was meant, and the others", async () => {
    const { code, log } = await runSidecar("pakc", {});
    expect(code).toBe(2);
    expect(log.map(({ message }) => message)).toEqual([
      "unknown subcommand pakc (did you mean `pack`?): they are prefill, pack, status, doctor, inject; see wfvar-sidecar --help",
    ]);
  });

  it.each([
    [["-h"], /^wfvar-sidecar [^]*wfvar-sidecar doctor/],
    [["help"], /^wfvar-sidecar [^]*wfvar-sidecar doctor/],
    [["help", "pack"], /^wfvar-sidecar pack: [^]*--linger/],
    [["pack", "-h"], /^wfvar-sidecar pack: [^]*--linger/],
  ])("takes %j for a call for help", async (words, page) => {
    expect(await sidecarSays(words, {})).toEqual({ code: 0, stdout: expect.stringMatching(page) });
  });

  it.each([
    ["prefill", ["--prefill-timeout", "--cp-url"], ["--linger", "--pod-grace", "--max-step-files"]],
    ["pack", ["--linger", "--pod-grace", "--max-step-files"], ["--prefill-timeout"]],
    ["status", ["--step", "--max-step-files"], ["--linger", "--pod-grace", "--proxy"]],
    ["doctor", ["--cp-url", "--proxy"], ["--linger", "--pod-grace", "--max-step-files"]],
  ])("lists for %s %j and not %j", async (command, listed, left) => {
    const { stdout } = await sidecarSays([command, "--help"], {});
    for (const flag of listed) expect(stdout).toContain(`  ${flag} `);
    for (const flag of left) expect(stdout).not.toContain(`  ${flag} `);
  });

  it("says what a missing token file is", async () => {
    const { stdout } = await sidecarSays(["doctor"], {});
    expect(stdout).toContain("WFVAR_TOKEN_FILE is required: the path of the step token\n");
  });
});

import { describe, expect, it } from "vitest";
import { makeStepFolder, run, shell, writeHook } from "./harness.ts";

const settings = {
  WFVAR_AGENT_GRACE: "3s",
  WFVAR_TOKEN_FILE: "/run/token",
  WFVAR_NODE_OPTIONS: "--no-warnings",
};

describe("the agent's environment (WV-15)", () => {
  it("has no WFVAR_ variable, has NODE_OPTIONS back, and everything else as it was", async () => {
    const step = makeStepFolder();
    const env = { ...settings, wfvar_lower: "stays", EMPTY: "", LINES: "a\nb=c" };
    const { stdout } = await run(step, shell('env -0; printf "%s" "$EMPTY"'), { env });
    const seen = new Map(
      stdout.split("\0").map((entry) => {
        const at = entry.indexOf("=");
        return [entry.slice(0, at), entry.slice(at + 1)] as const;
      }),
    );
    expect([...seen.keys()].filter((name) => name.startsWith("WFVAR_"))).toEqual([]);
    expect(seen.get("NODE_OPTIONS")).toBe("--no-warnings");
    expect(seen.get("WORKFLOW_VARIABLES_ROOT")).toBe(step.root);
    expect(seen.get("WORKFLOW_VARIABLES_SELF")).toBe(step.own);
    expect(seen.get("PATH")).toBe(process.env["PATH"]);
    expect(seen.get("wfvar_lower")).toBe("stays");
    expect(seen.get("EMPTY")).toBe("");
    expect(seen.get("LINES")).toBe("a\nb=c");
  });

  it("keeps a NODE_OPTIONS that no launcher put away", async () => {
    const step = makeStepFolder();
    const env = { NODE_OPTIONS: "--no-warnings" };
    const ended = await run(step, shell('printf "%s" "$NODE_OPTIONS"'), { env });
    expect(ended.stdout).toBe("--no-warnings");
  });

  it("has an LD_PRELOAD back that a launcher put away", async () => {
    const step = makeStepFolder();
    // The loader says on stderr that it passes it over.
    const env = { WFVAR_LD_PRELOAD: "/none.so" };
    const { stdout } = await run(step, shell('printf "%s" "$LD_PRELOAD"'), { env });
    expect(stdout).toBe("/none.so");
  });

  it("is the hooks' too, with the agent's end and nothing else of the entrypoint's", async () => {
    const step = makeStepFolder();
    writeHook(step, "print", 'env | grep -E "^(WFVAR_|NODE_OPTIONS)" | sort');
    const { stderr } = await run(step, shell("exit 0"), { env: settings });
    expect(stderr.trim().split("\n")).toEqual([
      "NODE_OPTIONS=--no-warnings",
      "WFVAR_EXIT_CODE=0",
      "WFVAR_EXIT_SIGNAL=",
      "WFVAR_OUTCOME=succeeded",
    ]);
  });
});

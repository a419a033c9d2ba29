import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { parseMarker } from "../../contract/marker.ts";
import { dist } from "../support/dist.ts";
import { installNode, nodeMajors } from "../support/install-node.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { makeTree } from "../support/tree.ts";

describe.each(nodeMajors)("what goes into agent images, on Node %d", (major) => {
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

  describe("runs an agent under the entrypoint (WV-15)", () => {
    const entrypoint = join(dist, "agent", "bin", "entrypoint");
    const markerOf = (root: string) => parseMarker(readFileSync(join(root, ".done")));

    it.each([
      ["exits", ["sh", "-c", "exit 3"], 3, null],
      ["is killed", ["sh", "-c", "kill -KILL $$"], 137, "SIGKILL"],
      ["is missing", ["no-such-command-anywhere"], 127, null],
      ["is a folder", ["/usr"], 126, null],
    ])("that %s, and leaves its marker", (_, command, code, signal) => {
      const { root, env } = step();
      expect(spawnSync(entrypoint, ["--", ...command], { env }).status).toBe(code);
      expect(markerOf(root)).toMatchObject({ outcome: "failed", exit_code: code, signal });
    });

    it("with its own NODE_OPTIONS, hooks after it, and files that it closed opened", () => {
      const { root, env } = step();
      const hooks = tempFolder();
      writeFileSync(join(hooks, "10-look"), '#!/bin/sh\necho "$WFVAR_EXIT_CODE"\n', {
        mode: 0o755,
      });
      const script = 'umask 077; echo secret > "$WORKFLOW_VARIABLES_SELF/X"; echo "$NODE_OPTIONS"';
      const { stdout, stderr } = spawnSync(
        entrypoint,
        ["--finalize-dir", hooks, "--", "sh", "-c", script],
        { env: { ...env, NODE_OPTIONS: "--inspect-brk=0" }, encoding: "utf8" },
      );
      expect([stdout, stderr]).toEqual(["--inspect-brk=0\n", "0\n"]);
      expect(statSync(join(root, "judge", "X")).mode & 0o777).toBe(0o644);
      expect(markerOf(root)?.finalize).toEqual({ status: "succeeded", failed: [] });
    });

    it("that ignores TERM and leaves a child behind: both are killed after the grace", async () => {
      const { root, env } = step();
      const own = join(root, "judge");
      const script = `trap '' TERM; sleep 60 & echo $! > "${own}/.pid"; while :; do sleep 0.05; done`;
      const argv = ["--agent-grace", "300ms", "--", "sh", "-c", script];
      const child = spawn(entrypoint, argv, { env, stdio: "ignore" });
      const exited = once(child, "exit");
      while (!existsSync(join(own, ".pid"))) await delay(20);
      child.kill("SIGTERM");
      expect(await exited).toEqual([137, null]);
      expect(markerOf(root)).toMatchObject({ outcome: "terminated", signal: "SIGKILL" });
      const left = readFileSync(join(own, ".pid"), "utf8").trim();
      expect(existsSync(`/proc/${left}`) && isRunning(left)).toBe(false);
    });

    // Each kind of descriptor goes another way through Node.
    it.each([
      ["a socket", 'exec "$0" "$@"'],
      ["a pipe", '"$0" "$@" | cat'],
      [
        "a file",
        '"$0" "$@" > "$WORKFLOW_VARIABLES_ROOT/.out"; cat "$WORKFLOW_VARIABLES_ROOT/.out"',
      ],
    ])("whose response is captured and passed on to %s", (_, script) => {
      const { root, env } = step();
      const agent = "seq 1 20000; echo end > /dev/stdout; echo so >&2";
      const { stdout, stderr } = spawnSync(
        "/bin/sh",
        ["-c", script, entrypoint, "--capture-response", "--", "sh", "-c", agent],
        { env, encoding: "utf8" },
      );
      expect(stdout.endsWith("\n20000\nend\n")).toBe(true);
      expect(readFileSync(join(root, "judge", "RESPONSE"), "utf8")).toBe(stdout);
      expect([stderr, readFileSync(join(root, "judge", "FAILURE"), "utf8")]).toEqual([
        "so\n",
        "so\n",
      ]);
      expect(markerOf(root)).toMatchObject({ outcome: "succeeded" });
    });
  });
});

/** False for a zombie too. */
function isRunning(pid: string): boolean {
  return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseStepPath } from "../../../contract/ids.ts";
import { defaultLimits } from "../../../contract/limits.ts";
import { checkStep, type CheckReport } from "../../../helper/check/check-step.ts";
import { withStep } from "../../../helper/step.ts";
import { collect } from "../../../sidecar/collect.ts";
import { openRoot, withFd } from "../../../sidecar/descriptor.ts";
import { unprivileged } from "../unprivileged.ts";
import { variablesFolder, type VariablesFolder } from "../variables-folder.ts";
import { runWfvar, wfvarKit } from "../wfvar-bundle.ts";

const kit = wfvarKit();
afterAll(() => {
  kit[Symbol.dispose]();
});

const check = ({ env }: VariablesFolder): CheckReport => withStep(env, checkStep);

function declare(folder: VariablesFolder, outputs: readonly unknown[]): void {
  writeFileSync(join(folder.root, ".step"), JSON.stringify({ version: 1, outputs }));
}

describe("advice on what is rejected or skipped (WV-11, WV-14)", () => {
  it.each([
    ["report.md=1", "invalid_output_key", "drop the extension and call it REPORT"],
    ["Final-Report.json=1", "invalid_output_key", "drop the extension and call it FINAL-REPORT"],
    ["bad name.md=1", "invalid_output_key", "names are letters, digits"],
    ["archive.tar=1", "invalid_output_key", "names are letters, digits"],
    [`${"z".repeat(65)}=1`, "invalid_output_key", "at most 64"],
    ["1/2/3/4/5/6/7/8=1", "invalid_output_key", "at most 8 segments"],
    ["link -> x", "skipped_symlink", "never followed"],
    ["pipe |", "skipped_fifo", "only plain files"],
    [".dot=1", "skipped_dotfile", "starts with a dot"],
  ])("%s: %s, %s", (path, code, advice) => {
    using folder = variablesFolder("judge", [`judge/${path}`]);
    const { rejected, skipped } = check(folder);
    expect([...rejected, ...skipped]).toMatchObject([
      { code, advice: expect.stringContaining(advice) },
    ]);
  });

  it("tells collisions, shadows and too many spellings apart", () => {
    using folder = variablesFolder("judge", [
      "judge/A=1",
      "judge/a=1",
      "judge/f/1/x=1",
      "judge/F/1=1",
    ]);
    const letters = "abcdefg".split("");
    for (let n = 0; n < 65; n += 1) {
      const spelling = letters.map((c, i) => (n & (1 << i) ? c.toUpperCase() : c)).join("");
      mkdirSync(join(folder.self, spelling));
    }
    const said = new Map(check(folder).rejected.map(({ path, advice }) => [path, advice]));
    expect(said.get("A")).toContain("keep one of them");
    expect(said.get("F/1")).toContain("rename one of them");
    expect(said.get("abcdefg")).toContain("merge them");
    expect(said.size).toBe(2 + 1 + 65);
  });

  it("rejects a file that grows while it is read", async () => {
    using folder = variablesFolder("judge", ["judge/LOG="]);
    const writer = `const fs = require("fs"); process.stdout.write("x"); for (;;) { fs.appendFileSync(process.argv[1], "x".repeat(4096)); if (fs.statSync(process.argv[1]).size > 5e5) fs.truncateSync(process.argv[1]); }`;
    const child = spawn(process.execPath, ["-e", writer, join(folder.self, "LOG")], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(child.stdout, "data");
    const codes = new Set<string>();
    for (const end = Date.now() + 5000; Date.now() < end && codes.size === 0;) {
      for (const { code } of check(folder).rejected) codes.add(code);
    }
    child.kill("SIGKILL");
    await once(child, "close");
    expect([...codes]).toEqual(["changed_while_reading"]);
  });

  it("names a socket as the sidecar does", () => {
    using folder = variablesFolder();
    const listen = `require("net").createServer().listen(process.argv[1], () => process.exit())`;
    execFileSync(process.execPath, ["-e", listen, join(folder.self, "SOCKET")]);
    const step = parseStepPath("judge");
    if (step === undefined) throw new Error("unreachable");
    const packed = withFd(openRoot(folder.root), (fd) =>
      collect(fd, step, "marker", defaultLimits),
    );
    expect(packed.skipped).toEqual([{ code: "skipped_socket", path: "SOCKET" }]);
    expect(check(folder).skipped).toMatchObject(packed.skipped);
  });

  it("names what this user may not open", () => {
    using folder = variablesFolder("judge", ["judge/closed/X=1", "judge/names/X=1", "judge/K=1"]);
    const user = unprivileged(kit, folder.root);
    chmodSync(join(folder.self, "closed"), 0);
    chmodSync(join(folder.self, "names"), 0o444);
    chmodSync(join(folder.self, "K"), 0);
    const { status, stdout } = runWfvar(kit, ["check", "--json"], { env: folder.env, ...user });
    expect(status).toBe(1);
    expect(JSON.parse(stdout.toString())).toMatchObject({
      accepted: [],
      rejected: [
        { code: "unreadable", path: "K", key: "judge.k" },
        { code: "unreadable", path: "closed" },
        { code: "unreadable", path: "names/X", key: "judge.names.x" },
      ],
    });
    chmodSync(join(folder.self, "closed"), 0o755);
    chmodSync(join(folder.self, "names"), 0o755);
  });

  it.runIf(process.getuid?.() === 0)("goes into no other mount", () => {
    using folder = variablesFolder("judge", ["judge/mount/X=1", "judge/K=1"]);
    const script = `mount -t tmpfs none "$WORKFLOW_VARIABLES_SELF/mount" && echo 1 > "$WORKFLOW_VARIABLES_SELF/mount/Y" && exec "$@" check`;
    const stdout = execFileSync(
      "unshare",
      ["-m", "sh", "-c", script, "sh", process.execPath, kit.bundle],
      { env: { PATH: process.env["PATH"], ...folder.env }, encoding: "utf8" },
    );
    expect(stdout).toContain("skipped mount: skipped_mount: ");
    expect(stdout).toContain("step judge: 1 accepted (1 byte), 0 rejected, 1 skipped");
  });
});

describe("declared outputs (WV-10, WV-14)", () => {
  it("are present where a value is accepted under their key, in any spelling", () => {
    using folder = variablesFolder("judge", ["judge/Verdict=1", "judge/Findings/high=1"]);
    folder.add("judge/TWICE=1", "judge/twice=1");
    declare(folder, [
      { key: "verdict", kind: "choice", options: ["a", "b"], required: true },
      { key: "FINDINGS.high", kind: "json", required: false },
      { key: "twice", kind: "text" },
      { key: "note", kind: "text", required: false },
      { key: "later", kind: "picture" },
      { key: "a b" },
      "verdict",
    ]);
    expect(check(folder).outputs).toEqual([
      { key: "verdict", kind: "choice", options: ["a", "b"], required: true, present: true },
      { key: "findings.high", kind: "json", required: false, present: true },
      { key: "twice", kind: "text", required: true, present: false },
      { key: "note", kind: "text", required: false, present: false },
      { key: "later", kind: "text", required: true, present: false },
    ]);
  });
});

describe("wfvar check (WV-14)", () => {
  it.each([
    ["nothing at all", [], [], 0],
    ["an optional output missing", [], [{ key: "a", required: false }], 0],
    ["only skipped files", ["judge/.dot=1", "STRAY=1"], [], 0],
    ["a required output present", ["judge/A=1"], [{ key: "a" }], 0],
    ["a required output missing", ["judge/B=1"], [{ key: "a" }], 1],
    ["a file rejected", ["judge/a b=1"], [], 1],
  ])("of %s exits with the right code", (_name, entries, outputs, status) => {
    using folder = variablesFolder("judge", entries);
    declare(folder, outputs);
    const text = runWfvar(kit, ["check"], { env: folder.env });
    const json = runWfvar(kit, ["check", "--json"], { env: folder.env });
    expect([text.status, json.status]).toEqual([status, status]);
    expect(JSON.parse(json.stdout.toString())).toEqual(check(folder));
    expect([text.stderr.toString(), json.stderr.toString()]).toEqual(["", ""]);
  });

  it("says it all in lines, the first hundred of each sort, with no raw name or value", () => {
    using folder = variablesFolder("judge", ["judge/VERDICT=s3cret", "plan/X=1"]);
    declare(folder, [{ key: "report", kind: "choice", options: ["a\u001b", "b"] }]);
    writeFileSync(join(folder.self, "n\nx"), "s3cret");
    for (let n = 0; n < 101; n += 1) writeFileSync(join(folder.self, `.${String(n)}`), "");
    const { stdout } = runWfvar(kit, ["check"], { env: folder.env });
    const lines = stdout.toString().split("\n");
    expect(lines).toHaveLength(1 + 1 + 101 + 1 + 1 + 1);
    expect(lines[0]).toBe("accepted judge.verdict: 6 bytes");
    expect(lines[1]).toMatch(/^rejected n\\x0ax: invalid_output_key: /);
    expect(lines[102]).toBe("skipped 1 more");
    expect(lines[103]).toBe(
      "missing report (choice: a\\x1b, b): required, set it before the step ends",
    );
    expect(lines[104]).toBe(
      "step judge: 1 accepted (6 bytes), 1 rejected, 101 skipped, 1 required missing",
    );
    expect(stdout.toString()).not.toContain("s3cret");
  });

  it("changes nothing", () => {
    using folder = variablesFolder("judge", ["judge/VERDICT=1", "judge/a b=1", "judge/l -> x"]);
    const before = folder.ownTree();
    runWfvar(kit, ["check"], { env: folder.env });
    expect(folder.ownTree()).toEqual(before);
  });

  it("exits with 5 where there is no step", () => {
    expect(
      runWfvar(kit, ["check"], { env: { WORKFLOW_VARIABLES_ROOT: "/nonexistent" } }).status,
    ).toBe(5);
  });
});

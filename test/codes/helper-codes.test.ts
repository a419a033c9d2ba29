import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { helperCodes, type HelperCode } from "../../contract/codes.ts";
import { dist } from "../support/dist.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { makeTree } from "../support/tree.ts";

const wfvar = join(dist, "agent", "lib", "wfvar.cjs");

/** A shell script over a root with the folder `judge`; `wfvar` is the built command. */
const scripts: Record<HelperCode, string> = {
  not_found: "wfvar get nope",
  invalid_key: "wfvar set 'a b' 1",
  ambiguous_key: "echo 1 > judge/A; echo 2 > judge/a; wfvar get a",
  invalid_value: "printf '\\351' | wfvar set a --stdin",
  usage: "wfvar frobnicate",
  value_too_large: "head -c 2000000 /dev/zero | wfvar set a --stdin",
  step_entries_exceeded: `echo '{"limits":{"max_step_entries":1}}' > .step; wfvar set a 1 && wfvar set b 1`,
  step_files_exceeded: `echo '{"limits":{"max_step_files":1}}' > .step; wfvar set a 1 && wfvar set b 1`,
  step_bytes_exceeded: `echo '{"limits":{"max_step_bytes":1}}' > .step; wfvar set a 1 && wfvar set b 1`,
  outside_own_step: "mkdir inspect; wfvar set inspect.a 1",
  no_variables: "WORKFLOW_VARIABLES_ROOT=$PWD/nope; export WORKFLOW_VARIABLES_ROOT; wfvar get a",
  unsafe_path: "ln -s /etc/passwd judge/A; wfvar get a",
  disk_full:
    'mount -t tmpfs -o size=64k none . && cd "$PWD" && mkdir judge; head -c 100000 /dev/zero > judge/.fill; wfvar set a 1',
  io_error: "echo 1 > judge/A; mount -o bind,ro . . && cd . && wfvar set a 2",
};

const needRoot: ReadonlySet<string> = new Set(["disk_full", "io_error"]);

describe("every code of wfvar is produced", () => {
  it.each(helperCodes)("%s", (code) => {
    if (needRoot.has(code) && process.getuid?.() !== 0) return;
    const root = tempFolder();
    makeTree(root, ["judge/"]);
    const errors = join(tempFolder(), "errors");
    const script = `wfvar() { "$NODE" "$WFVAR" "$@"; }; { ${scripts[code]}; } 2> '${errors}' || true`;
    const env = {
      ...process.env,
      NODE: process.execPath,
      WFVAR: wfvar,
      WORKFLOW_VARIABLES_ROOT: root,
      WORKFLOW_VARIABLES_SELF: join(root, "judge"),
    };
    const isolate = needRoot.has(code) ? ["unshare", "-m", "sh"] : ["env", "sh"];
    execFileSync(isolate[0] ?? "", [...isolate.slice(1), "-c", script], {
      cwd: root,
      env,
      stdio: "ignore",
    });
    const lines = readFileSync(errors, "utf8").trim().split("\n");
    expect(lines.at(-1)).toMatch(new RegExp(`^wfvar: ${code}: `));
  });
});

import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { pythonInterpreter } from "../../support/python-interpreter.ts";

/** Runs a script that has `wfvar_cp` as `kit` and the input as `given`; gives what it leaves in `result`. */
export function callPython(script: string, input: unknown = null): unknown {
  const lines = ["import json, sys, wfvar_cp as kit", "given = json.load(sys.stdin)", script];
  const whole = [...lines, "json.dump(result, sys.stdout)"].join("\n");
  const { stdout, stderr } = spawnSync(pythonInterpreter(), ["-W", "error", "-c", whole], {
    env: { PYTHONPATH: resolve("controlplane/python"), PYTHONDONTWRITEBYTECODE: "1" },
    input: JSON.stringify(input),
    encoding: "utf8",
    maxBuffer: 256 * 1024 ** 2,
  });
  if (stderr !== "") throw new Error(stderr);
  return JSON.parse(stdout);
}

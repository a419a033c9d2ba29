import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/** The system's own, before one of a user that another may not run. */
const systemPython = "/usr/bin/python3";

/** The interpreter itself: what PATH names may be a slow stand-in. `PYTHON` names another than `python3`. */
export function pythonInterpreter(): string {
  const python = process.env["PYTHON"] ?? (existsSync(systemPython) ? systemPython : "python3");
  const script = ["-c", "import sys; print(sys.executable)"];
  return execFileSync(python, script, { encoding: "utf8" }).trim();
}

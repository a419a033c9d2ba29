import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pythonInterpreter } from "./python-interpreter.ts";

/** The kit as an image without Node has it: `bin/wfvar` and the Python package. */
export interface PythonKit extends Disposable {
  /** For PYTHONPATH: `variables/` is in it. */
  readonly folder: string;
  /** The interpreter itself: what PATH names may be a slow stand-in. */
  readonly python: string;
  /** `__main__.py`, to be run as a file. */
  readonly main: string;
  readonly launcher: string;
}

/** A copy, so that Python may compile it there. */
export function pythonKit(): PythonKit {
  const folder = mkdtempSync(join(tmpdir(), "wfvar-python-"));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "bin"));
  const launcher = join(folder, "bin/wfvar");
  cpSync("helper/bin/wfvar", launcher);
  const variables = join(folder, "variables");
  const isSource = (path: string): boolean => basename(path) !== "__pycache__";
  cpSync("helper/python/variables", variables, { recursive: true, filter: isSource });
  const python = pythonInterpreter();
  execFileSync(python, ["-ISE", "-m", "compileall", "-q", variables]);
  return {
    folder,
    python,
    main: join(variables, "__main__.py"),
    launcher,
    [Symbol.dispose]: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

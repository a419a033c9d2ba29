import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { keys, load, save, VariablesError } from "../../helper/index.ts";
import type { PythonKit } from "../support/python-kit.ts";
import { bytesOf, vectorFiles, type Vector, type VectorFile } from "./vector.ts";

/** What a call gives, or what it refuses with. */
export type Outcome = { readonly result: string | readonly string[] | null } | Refusal;

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly key: string | null;
  readonly size: number | null;
  readonly limit: number | null;
}

/** The vectors that a library can run: those that are no command line. Modes bind every user but root, and the tests may be root's. */
export function libraryVectors(): VectorFile[] {
  return vectorFiles()
    .map((file) => ({
      ...file,
      cases: file.cases.filter((vector) => !vector.argv && !vector.unprivileged),
    }))
    .filter(({ cases }) => cases.length > 0);
}

/** The call in JavaScript, with the vector's variables set while it runs. */
export function callInJavaScript(
  { load: toLoad, save: toSave, keys: toList }: Vector,
  env: Readonly<Record<string, string>>,
): Outcome {
  const names = ["WORKFLOW_VARIABLES_ROOT", "WORKFLOW_VARIABLES_SELF"];
  Object.assign(process.env, env);
  try {
    if (toLoad) return { result: load(...toLoad) };
    if (toList) return { result: keys(...toList) };
    if (toSave) save(toSave[0], savedText(toSave));
    return { result: null };
  } catch (error) {
    if (!(error instanceof VariablesError)) throw error;
    const { code, message, key = null, size = null, limit = null } = error;
    return { code, message, key, size, limit };
  } finally {
    for (const name of names) delete process.env[name];
  }
}

/** An interpreter with a script that reads calls and prints outcomes, such as `run_library.py`. */
export interface LibraryRunner {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

export function pythonRunner(kit: PythonKit): LibraryRunner {
  const script = join(import.meta.dirname, "run_library.py");
  return { argv: [kit.python, script], env: { PYTHONPATH: kit.folder } };
}

/** The calls in another interpreter, all in one process: to start one for each would take longer than everything else. */
export function callElsewhere(
  { argv: [file, ...args], env: runnerEnv }: LibraryRunner,
  calls: readonly { readonly vector: Vector; readonly env: Readonly<Record<string, string>> }[],
): Outcome[] {
  const input = calls.map(({ vector: { load: toLoad, save: toSave, keys: toList }, env }) => ({
    env,
    ...(toSave ? { save: [toSave[0], savedText(toSave)] } : { load: toLoad, keys: toList }),
  }));
  const { stdout, stderr } = spawnSync(file, args, {
    env: runnerEnv,
    input: JSON.stringify(input),
    maxBuffer: 64 * 1024 ** 2,
  });
  if (stderr.length > 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString()) as Outcome[];
}

export function expectedOutcome({ result, code }: Vector): Outcome | Pick<Refusal, "code"> {
  if (code !== undefined) return { code };
  if (result === undefined) return { result: null };
  return { result: isList(result) ? result : bytesOf(result, "").toString() };
}

/** The value of a `save`, as text; it may be no valid text. */
function savedText([, value]: NonNullable<Vector["save"]>): string {
  return typeof value === "string" ? value : bytesOf(value, "").toString();
}

function isList(result: NonNullable<Vector["result"]>): result is readonly string[] {
  return Array.isArray(result);
}

/** Making a device takes root. */
export function canBeMade({ before = {} }: Vector): boolean {
  const needsRoot = Object.values(before).some(
    (node) => typeof node === "object" && "odd" in node && node.odd === "device",
  );
  return !needsRoot || process.getuid?.() === 0;
}

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Limits } from "../../contract/limits.ts";
import type { Env } from "../../helper/step.ts";

/** A root as a prefill leaves it, on the real file system, gone when it is disposed of. */
export interface VariablesFolder extends Disposable {
  readonly root: string;
  /** The own folder. */
  readonly self: string;
  readonly env: Env;
  /** Writes entries: `plan/SUMMARY=text` a file, `plan/` a folder, `a -> b` a link, `a |` a FIFO. */
  add(...entries: readonly string[]): void;
  /** Every path below the own folder, sorted; folders end in a slash. */
  ownTree(): string[];
}

export function variablesFolder(
  step = "judge",
  entries: readonly string[] = [],
  limits: Partial<Limits> = {},
): VariablesFolder {
  const root = mkdtempSync(join(tmpdir(), "wfvar-test-"));
  const self = join(root, step);
  mkdirSync(self, { recursive: true });
  writeFileSync(join(root, ".step"), JSON.stringify({ version: 1, limits }));
  const folder: VariablesFolder = {
    root,
    self,
    env: { WORKFLOW_VARIABLES_ROOT: root, WORKFLOW_VARIABLES_SELF: self },
    add: (...added) => {
      for (const entry of added) addEntry(root, entry);
    },
    ownTree: () => treeOf(self).toSorted(),
    [Symbol.dispose]: () => {
      rmSync(root, { recursive: true, force: true });
    },
  };
  folder.add(...entries);
  return folder;
}

function addEntry(root: string, entry: string): void {
  const [, name = "", kind, rest = ""] = /^(.+?)(=| -> | \||\/$)([^]*)$/.exec(entry) ?? [];
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  switch (kind) {
    case "=":
      writeFileSync(path, rest);
      break;
    case "/":
      mkdirSync(path, { recursive: true });
      break;
    case " -> ":
      symlinkSync(rest, path);
      break;
    case " |":
      execFileSync("mkfifo", [path]);
      break;
    default:
      throw new Error(`not an entry: ${entry}`);
  }
}

/** Unlike the recursive `readdir`, this goes into no link. */
function treeOf(folder: string, prefix = ""): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name;
    return entry.isDirectory()
      ? [`${path}/`, ...treeOf(join(folder, entry.name), `${path}/`)]
      : [path];
  });
}

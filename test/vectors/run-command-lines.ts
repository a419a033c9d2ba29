import { chmodSync, lchownSync, lstatSync, readdirSync } from "node:fs";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { commandLineOf, type Answer } from "./command-line.ts";
import { canBeMade } from "./library-call.ts";
import { snapshotOf, type Snapshot } from "./snapshot.ts";
import { bytesOf, inRoot, vectorFiles, type Vector, type VectorFile } from "./vector.ts";
import { makeVectorTree } from "./vector-tree.ts";

/** What came of a vector's command line. */
export interface Run {
  readonly answer: Answer;
  readonly after: Snapshot;
  readonly expected: Snapshot;
}

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** The vectors that have a command line. */
export function commandLineVectors(): VectorFile[] {
  return vectorFiles()
    .map((file) => ({
      ...file,
      cases: file.cases.filter((vector) => commandLineOf(vector) && canBeMade(vector)),
    }))
    .filter(({ cases }) => cases.length > 0);
}

/**
 * Runs every vector's command line, a few at a time. Those that need a user who is not root are left out where
 * only root may run the program.
 */
export async function runCommandLines(
  program: readonly string[],
  files: readonly VectorFile[],
): Promise<Map<Vector, Run>> {
  const runs = new Map<Vector, Run>();
  const jobs = files.flatMap(({ cases }) => cases);
  const closed = !canRunAsNobody(program);
  const work = async (): Promise<void> => {
    for (let vector = jobs.pop(); vector !== undefined; vector = jobs.pop()) {
      if (!vector.unprivileged || !closed) runs.set(vector, await run(program, vector));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return runs;
}

/** An interpreter in root's own folder is root's alone. */
function canRunAsNobody([file = "", ...first]: readonly string[]): boolean {
  const options = isRoot ? { uid: nobody, gid: nobody } : {};
  return spawnSync(file, [...first, "--version"], options).status === 0;
}

async function run(program: readonly string[], vector: Vector): Promise<Run> {
  const tree = makeVectorTree(vector);
  try {
    const asNobody = vector.unprivileged === true && isRoot;
    if (asNobody) giveAway(tree.root);
    const answer = await answerOf(program, vector, tree.root, tree.env, asNobody);
    return { answer, after: snapshotOf(tree.root), expected: tree.expected };
  } finally {
    tree.remove();
  }
}

async function answerOf(
  [file = "", ...first]: readonly string[],
  vector: Vector,
  root: string,
  env: Readonly<Record<string, string>>,
  asNobody: boolean,
): Promise<Answer> {
  const { argv, stdin } = commandLineOf(vector) ?? { argv: [], stdin: undefined };
  const words = argv.map((word) => inRoot(word, root));
  const options = { env, ...(asNobody ? { uid: nobody, gid: nobody } : {}) };
  const child =
    stdin === undefined
      ? spawn(file, [...first, ...words], { ...options, stdio: ["ignore", "pipe", "pipe"] })
      : spawn(file, [...first, ...words], { ...options, stdio: "pipe" });
  // A command that refuses its words does not read.
  child.stdin?.on("error", () => undefined).end(bytesOf(stdin ?? "", root));
  const [[exit], stdout, stderr] = await Promise.all([
    once(child, "close") as Promise<[number | null]>,
    buffer(child.stdout),
    buffer(child.stderr),
  ]);
  return {
    exit,
    stdout: stdout.toString("latin1").replaceAll(root, "$ROOT"),
    stderr: stderr.toString().replaceAll(root, "$ROOT"),
  };
}

function giveAway(root: string): void {
  chmodSync(root, 0o755);
  for (const path of [".", ...readdirSync(root, { recursive: true, encoding: "utf8" })]) {
    const mode = lstatSync(join(root, path)).mode;
    lchownSync(join(root, path), nobody, nobody);
    // A change of owner may take bits away.
    if ((lstatSync(join(root, path)).mode & 0o7777) !== (mode & 0o7777))
      chmodSync(join(root, path), mode & 0o7777);
  }
}

import { chmodSync, lchownSync, lstatSync, readdirSync } from "node:fs";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dist } from "../support/dist.ts";
import { commandLineOf, faultsOf, type Answer } from "./command-line.ts";
import { canBeMade } from "./library-call.ts";
import { pythonKit } from "../support/python-kit.ts";
import { snapshotOf, type Snapshot } from "./snapshot.ts";
import { bytesOf, inRoot, titled, vectorFiles, type Vector } from "./vector.ts";
import { makeVectorTree } from "./vector-tree.ts";

interface Run {
  readonly answer: Answer;
  readonly after: Snapshot;
  readonly expected: Snapshot;
}

type Language = "JavaScript" | "Python";

const languages = ["JavaScript", "Python"] as const;
const files = vectorFiles()
  .map((file) => ({
    ...file,
    cases: file.cases.filter((vector) => commandLineOf(vector) && canBeMade(vector)),
  }))
  .filter(({ cases }) => cases.length > 0);
const runs = { JavaScript: new Map<Vector, Run>(), Python: new Map<Vector, Run>() };
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** Every process first, a few at a time: a test for each would wait for one after the other. */
beforeAll(async () => {
  using kit = pythonKit();
  const programs: Record<Language, readonly string[]> = {
    JavaScript: [process.execPath, join(dist, "agent", "lib", "wfvar.cjs")],
    Python: [kit.python, "-ISE", kit.main],
  };
  const jobs = files
    .flatMap(({ cases }) => cases)
    .flatMap((vector) => languages.map((language) => ({ vector, language })));
  const closed = new Set(languages.filter((language) => !canRunAsNobody(programs[language])));
  const work = async (): Promise<void> => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
      const { vector, language } = job;
      if (vector.unprivileged && closed.has(language)) continue;
      runs[language].set(vector, await run(programs[language], vector));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}, 300_000);

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

afterAll(() => {
  for (const language of languages) runs[language].clear();
});

describe.each(languages)("%s command line", (language) => {
  describe.each(files)("$name", ({ cases }) => {
    it.for(titled(cases))("%s", ([, vector], { skip }) => {
      const ran = runs[language].get(vector);
      skip(vector.unprivileged === true && ran === undefined, "only root may run this interpreter");
      expect(ran && faultsOf(vector, ran.answer)).toEqual([]);
      expect(ran?.after).toEqual(ran?.expected);
      // Word for word, where the vector gives no words as well.
      expect(ran?.answer).toEqual(runs.JavaScript.get(vector)?.answer);
    });
  });
});

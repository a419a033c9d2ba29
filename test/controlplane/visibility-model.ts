/**
 * What a step sees and what an operator is shown, worked out from the specification alone (WV-1, WV-8, WV-9) in
 * the plainest way: everything that ever happened stands in lists, and every question goes through all of them.
 * It takes nothing from the sources, so that it cannot share a mistake with them. Names are in lowercase.
 */

/** Key below its owner, such as `verdict` or `inputs.repo`, to its bytes. */
export type Values = ReadonlyMap<string, Buffer>;

export interface Output {
  readonly key: string;
  readonly kind: string;
  readonly required: boolean;
}

export interface Attempt {
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
  readonly dependsOn: readonly string[];
  readonly outputs: readonly Output[];
}

/** A path below the root to the bytes of a file, or to null for a folder. */
export type Tree = ReadonlyMap<string, Buffer | null>;

export interface Shown {
  readonly key: string;
  readonly bytes: Buffer;
  readonly kind: string;
  readonly set_by: string;
  readonly attempt: number;
}

export class VisibilityModel {
  readonly #inputs = new Map<string, Values>();
  readonly #stamped: Attempt[] = [];
  readonly #accepted = new Map<Attempt, Values>();

  createRun(run: string, inputs: Values): void {
    this.#inputs.set(run, inputs);
  }

  stamp(attempt: Attempt): void {
    this.#stamped.push(attempt);
  }

  accept(attempt: Attempt, values: Values): void {
    this.#accepted.set(attempt, values);
  }

  isAccepted(attempt: Attempt): boolean {
    return this.#accepted.has(attempt);
  }

  /** 0 where the step was never stamped. */
  newestAttempt(run: string, step: string): number {
    return Math.max(0, ...this.#attemptsOf(run, step).map(({ attempt }) => attempt));
  }

  isStamped(run: string, step: string, attempt: number): boolean {
    return this.#attemptsOf(run, step).some((each) => each.attempt === attempt);
  }

  isNewest({ run, step, attempt }: Attempt): boolean {
    return attempt === this.newestAttempt(run, step);
  }

  /** The prefill without `.step`: the run's inputs and the folders of the visible steps. */
  prefillOf(viewer: Attempt): Tree {
    const tree = new Map<string, Buffer | null>([["workflow", null]]);
    for (const [name, bytes] of this.#inputs.get(viewer.run) ?? [])
      tree.set(`workflow/${name}`, bytes);
    for (const step of this.#knownSteps(viewer)) {
      if (whySeen(viewer, step) === undefined) continue;
      addFolders(tree, step.split("."));
      const values = this.newestAccepted(viewer.run, step)?.values ?? [];
      for (const [key, bytes] of values) {
        const folders = [...step.split("."), ...key.split(".")];
        const leaf = folders.pop() ?? "";
        addFolders(tree, folders);
        tree.set([...folders, leaf.toUpperCase()].join("/"), bytes);
      }
    }
    return tree;
  }

  /** Every value of the run, by key. */
  variablesOf(run: string): Shown[] {
    const shown: Shown[] = [];
    for (const [name, bytes] of this.#inputs.get(run) ?? [])
      shown.push({ key: `workflow.${name}`, bytes, kind: "text", set_by: "input", attempt: 0 });
    for (const step of new Set(this.#attemptsOf(run).map((each) => each.step))) {
      const newest = this.newestAccepted(run, step);
      for (const [name, bytes] of newest?.values ?? []) {
        const kind = newest?.outputs.find(({ key }) => key === name)?.kind ?? "text";
        const attempt = newest?.attempt ?? 0;
        shown.push({ key: `${step}.${name}`, bytes, kind, set_by: step, attempt });
      }
    }
    return shown.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  newestAccepted(run: string, step: string): (Attempt & { values: Values }) | undefined {
    const [newest] = this.#attemptsOf(run, step)
      .filter((each) => this.#accepted.has(each))
      .toSorted((a, b) => b.attempt - a.attempt);
    return newest && { ...newest, values: this.#accepted.get(newest) ?? new Map() };
  }

  /** Steps that were stamped in the viewer's run, and those that it alone speaks of. */
  #knownSteps({ run, dependsOn }: Attempt): Set<string> {
    return new Set([...dependsOn, ...this.#attemptsOf(run).map(({ step }) => step)]);
  }

  #attemptsOf(run: string, step?: string): Attempt[] {
    return this.#stamped.filter(
      (each) => each.run === run && (step === undefined || each.step === step),
    );
  }
}

/** Why a step sees another one (WV-9), if it does. */
export function whySeen(
  viewer: Pick<Attempt, "step" | "dependsOn">,
  step: string,
): "dependency" | "iteration" | undefined {
  if (step === viewer.step) return undefined;
  if (viewer.dependsOn.includes(step)) return "dependency";
  const [mine, theirs] = [loopOf(viewer.step), loopOf(step)];
  if (mine === undefined || theirs === undefined || mine.id !== theirs.id) return undefined;
  return theirs.iteration < mine.iteration ? "iteration" : undefined;
}

/** `fix_a_10.check` is in the loop `fix_a`, iteration 10; `check` is in none. */
function loopOf(step: string): { id: string; iteration: number } | undefined {
  const [folder = "", body] = step.split(".");
  if (body === undefined) return undefined;
  const parts = folder.split("_");
  const iteration = Number(parts.pop());
  return { id: parts.join("_"), iteration };
}

function addFolders(tree: Map<string, Buffer | null>, path: readonly string[]): void {
  path.forEach((_, at) => tree.set(path.slice(0, at + 1).join("/"), null));
}

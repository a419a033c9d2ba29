import { reservedWords } from "./reserved-words.ts";

/** Step, loop and run ids (WV-3), and step paths: `judge`, `review-loop_2.judge`. */

const stepPattern = /^[a-z][a-z0-9_-]{0,63}$/;
const loopPattern = /^[a-z][a-z0-9_-]{0,55}$/;
const iterationSuffix = /_\d+$/;
const loopFolderPattern = /^(.+)_([1-9]\d{0,5})$/;
const runPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Iterations of one loop in one run. */
export const maxIteration = 999_999;

/** Says what is wrong with a step id, or nothing. */
export function stepIdProblem(id: string): string | undefined {
  return idProblem(id, stepPattern, 64);
}

/** Says what is wrong with a loop id, or nothing. */
export function loopIdProblem(id: string): string | undefined {
  return idProblem(id, loopPattern, 56);
}

/** Run ids are the caller's: letters, digits, `.`, `_`, `-`, at most 128. */
export function isRunId(text: string): boolean {
  return runPattern.test(text);
}

export interface StepPath {
  /** Key notation, lowercase: `review-loop_2.judge`. */
  readonly text: string;
  /** Folders from the root: `["review-loop_2", "judge"]`. */
  readonly segments: readonly [string] | readonly [string, string];
  readonly step: string;
  readonly loop?: { readonly id: string; readonly iteration: number };
}

/** Reads a step path in key notation, in any case; undefined where it is not one. */
export function parseStepPath(text: string): StepPath | undefined {
  const [first, second, ...rest] = text.toLowerCase().split(".");
  if (first === undefined || rest.length > 0 || !isAscii(text)) return undefined;
  if (second === undefined) {
    if (stepIdProblem(first) !== undefined) return undefined;
    return { text: first, segments: [first], step: first };
  }
  const [, loop, digits] = loopFolderPattern.exec(first) ?? [];
  if (loop === undefined || loopIdProblem(loop) !== undefined) return undefined;
  if (stepIdProblem(second) !== undefined) return undefined;
  return {
    text: `${first}.${second}`,
    segments: [first, second],
    step: second,
    loop: { id: loop, iteration: Number(digits) },
  };
}

function idProblem(id: string, pattern: RegExp, max: number): string | undefined {
  if (!pattern.test(id)) {
    return `ids are lowercase letters, digits, \`-\` and \`_\`, start with a letter, at most ${String(max)} characters`;
  }
  if (iterationSuffix.test(id)) return "ids do not end in `_<digits>`: that marks a loop iteration";
  if (reservedWords.has(id)) return `\`${id}\` is a reserved word`;
  return undefined;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 127) return false;
  return true;
}

import { exitCodes } from "../../helper/exit-codes.ts";
import type { HelperCode } from "../../contract/codes.ts";
import { bytesOf, type Content, type Vector } from "./vector.ts";

/** A vector as a command line: its own, or the one that does what its call does. */
export interface CommandLine {
  readonly argv: readonly string[];
  readonly stdin: Content | undefined;
}

/** What came of it. `$ROOT` stands for the root's path, so that two runs compare. */
export interface Answer {
  readonly exit: number | null;
  /** A character for each byte. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Undefined where a call has no equal on the command line. */
export function commandLineOf(vector: Vector): CommandLine | undefined {
  const { argv, stdin, load, save, keys } = vector;
  if (vector.commandLine === false) return undefined;
  if (argv) return { argv, stdin };
  if (save) return { argv: ["set", "-q", "--stdin", "--", save[0]], stdin: save[1] };
  if (keys) return { argv: ["list", ...keys.flatMap((prefix) => ["--", prefix ?? ""])], stdin };
  const [key = "", defaultValue] = load ?? [];
  const flag = defaultValue === undefined ? [] : ["--default", defaultValue];
  return { argv: ["get", ...flag, "--", key], stdin };
}

/** What is wrong with an answer to a vector's command line; empty where nothing is. */
export function faultsOf(vector: Vector, answer: Answer): string[] {
  const code = vector.code as HelperCode | undefined;
  const exit = code === undefined ? (vector.exit ?? 0) : exitCodes[code];
  const faults: string[] = [];
  if (answer.exit !== exit) faults.push(`exit ${String(answer.exit)}, not ${String(exit)}`);
  if (!isExpected(answer.stdout, expectedOutput(vector))) faults.push("another stdout");
  const isExpectedError =
    code === undefined
      ? answer.stderr === (vector.stderr ?? "")
      : new RegExp(`^wfvar: ${code}: [^\\n]+\\n$`).test(answer.stderr);
  if (!isExpectedError) faults.push(`stderr: ${answer.stderr}`);
  return faults;
}

function expectedOutput({ result, stdout, keys }: Vector): Content | { readonly starts: string } {
  if (keys && Array.isArray(result)) return result.map((key) => `${String(key)}\n`).join("");
  return (result as Content | undefined) ?? stdout ?? "";
}

function isExpected(output: string, expected: Content | { readonly starts: string }): boolean {
  return typeof expected === "object" && "starts" in expected
    ? output.startsWith(expected.starts)
    : output === bytesOf(expected, "$ROOT").toString("latin1");
}

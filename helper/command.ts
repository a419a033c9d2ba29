import type { Env } from "./step.ts";

/** What a command reaches of the world outside `/variables`. */
export interface CommandIo {
  readonly env: Env;
  /** The process's command line as the kernel holds it: words ended by NUL. Only read where `argv` alone cannot tell. */
  rawArguments(): Uint8Array;
  /** True where stdin is a pipe, a socket or a file with bytes; reads nothing and never waits. */
  stdinCarriesData(): boolean;
  /** Stdin to its end, but at most `maxBytes`. */
  readStdin(maxBytes: number): Uint8Array;
  /** Returns when every byte is written, or when nobody reads any more. */
  writeOut(bytes: string | Uint8Array): void;
  /** One line, without its end. */
  writeError(line: string): void;
}

export interface Command {
  /** All of `wfvar <command> --help`. */
  readonly help: string;
  readonly syntax: Syntax;
  /** Gives the exit code; throws VariablesError, whose code decides it. */
  run(words: Words, io: CommandIo): number;
}

export interface ListedCommand extends Command {
  /** One line for `wfvar --help`. */
  readonly summary: string;
}

export interface Syntax {
  /** Flags, and whether each takes the next word. */
  readonly flags: Readonly<Record<string, "alone" | "with-word">>;
  readonly minWords: number;
  readonly maxWords: number;
  /** From this word on, what is not exactly one of the flags is a word, whatever it looks like. */
  readonly literalFrom?: number;
}

export interface Words {
  readonly words: readonly string[];
  /** Flags given, with their word or "". */
  readonly flags: ReadonlyMap<string, string>;
}

import type { ChildProcess, StdioOptions } from "node:child_process";
import { rootVariable, selfVariable } from "../contract/layout.ts";
import { errnoOf } from "./entrypoint-error.ts";
import { OutputTee } from "./output-tee.ts";
import { TextTail } from "./text-tail.ts";

/** How long output is waited for once the agent is over. */
const drainMs = 1000;
/** Of stderr, for whoever asks why it failed. */
const maxFailureBytes = 4096;

/** Where the own folder is, and what a value may hold. */
export interface CaptureOptions {
  readonly root: string;
  readonly self: string;
  readonly maxValueBytes: number;
}

/**
 * `--capture-response` (WV-15): the agent's stdout, or its tail, becomes the own leaf RESPONSE, and the last 4 KiB
 * of its stderr, if there were any, FAILURE. Both also go where they went before.
 */
export class Capture {
  readonly #options: CaptureOptions;
  readonly #response: TextTail;
  readonly #failure: TextTail;
  readonly #stdout: OutputTee;
  readonly #stderr: OutputTee;

  constructor(rootFd: number, options: CaptureOptions) {
    this.#options = options;
    this.#response = new TextTail(options.maxValueBytes);
    this.#failure = new TextTail(Math.min(maxFailureBytes, options.maxValueBytes));
    this.#stdout = new OutputTee(rootFd, 1, this.#response);
    this.#stderr = new OutputTee(rootFd, 2, this.#failure);
  }

  get stdio(): StdioOptions {
    return ["inherit", this.#stdout.stdio, this.#stderr.stdio];
  }

  attach(child: ChildProcess | undefined): void {
    this.#stdout.attach(child);
    this.#stderr.attach(child);
  }

  /** Waits for the rest of the output, a second at most, and saves both. Gives a line for each that could not be. */
  async save(): Promise<string[]> {
    await Promise.all([this.#stdout.drain(drainMs), this.#stderr.drain(drainMs)]);
    // Loaded only where it is asked for: the helper is half of this program.
    const { saveValue } = await import("../helper/save.ts");
    const { root, self } = this.#options;
    const env = { [rootVariable]: root, [selfVariable]: self };
    const problems: string[] = [];
    const save = (key: string, bytes: Buffer): void => {
      try {
        saveValue(env, key, bytes);
      } catch (error) {
        const reason = error instanceof Error ? error.message : errnoOf(error);
        problems.push(`the agent's ${key} could not be saved: ${reason}`);
      }
    };
    save("response", this.#response.bytes());
    const failure = this.#failure.bytes();
    if (failure.length > 0) save("failure", failure);
    return problems;
  }
}

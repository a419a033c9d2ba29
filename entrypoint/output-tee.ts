import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { errnoOf } from "./entrypoint-error.ts";
import type { TextTail } from "./text-tail.ts";

/** The most that a pipe holds without privileges. */
const maxPipeBytes = 1024 ** 2;

/**
 * Passes one output of the agent on, unchanged, and keeps its tail. A reader that is slow holds up the agent,
 * as it would without us. One that is gone closes the agent's pipe, as it would without us; where passing on
 * fails otherwise (disk full), the tail is still kept.
 */
export class OutputTee {
  readonly #target: Writable;
  readonly #tail: TextTail;
  #source: Readable | undefined;
  #over: Promise<void> = Promise.resolve();
  #isBroken = false;
  /** What may still be read without regard to the reader. */
  #unheldBytes = 0;

  constructor(target: Writable, tail: TextTail) {
    this.#target = target;
    this.#tail = tail;
    target.on("error", this.#break);
    target.on("drain", () => this.#source?.resume());
  }

  /** The agent runs; to be called once. */
  readFrom(source: Readable): void {
    this.#source = source;
    this.#over = new Promise((resolve) => {
      source.once("end", () => this.#target.end(resolve));
      // Without an end it was destroyed.
      source.once("close", () => source.readableEnded || resolve());
    });
    source.once("error", () => source.destroy());
    source.on("data", this.#take);
  }

  /**
   * The agent is over: resolves when its output has been passed on, after `ms` at the latest, because a
   * daemon may hold the pipe open for ever and a reader may never read. What stands in the pipe is in the
   * tail then, whoever reads.
   */
  async finish(ms: number): Promise<void> {
    this.#unheldBytes = maxPipeBytes;
    this.#source?.resume();
    await Promise.race([this.#over, sleep(ms)]);
    this.#source?.destroy();
  }

  readonly #take = (chunk: Buffer): void => {
    this.#tail.push(chunk);
    if (this.#isBroken || this.#target.write(chunk)) return;
    this.#unheldBytes -= chunk.length;
    if (this.#unheldBytes < 0) this.#source?.pause();
  };

  readonly #break = (error: Error): void => {
    this.#isBroken = true;
    if (errnoOf(error) === "EPIPE") this.#source?.destroy();
    else this.#source?.resume();
  };
}

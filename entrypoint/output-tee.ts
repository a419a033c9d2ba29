import { type ChildProcess, spawnSync } from "node:child_process";
import { closeSync, constants, createWriteStream, fstatSync, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { atSelf } from "../contract/at.ts";
import type { TextTail } from "./text-tail.ts";

/**
 * Passes one output of the agent on, unchanged and with backpressure, and keeps its tail. The agent writes to a
 * FIFO where there is `mkfifo`, since a pipe that Node makes is a socket and `echo > /dev/stdout` cannot open
 * one. Passing on goes through a descriptor of its own: ours is shared with whoever started us, and a reader
 * that is slow holds up the agent and nothing else.
 */
export class OutputTee {
  readonly #target: number;
  readonly #tail: TextTail;
  readonly #fifo: Fifo | undefined;
  #ended: Promise<void> = Promise.resolve();
  #source: Readable | undefined;

  /** `target` is our own descriptor, 1 or 2. */
  constructor(rootFd: number, target: number, tail: TextTail) {
    this.#target = target;
    this.#tail = tail;
    this.#fifo = openFifo(rootFd);
  }

  /** What the agent gets as this descriptor. */
  get stdio(): number | "pipe" {
    return this.#fifo?.writeFd ?? "pipe";
  }

  /** The agent runs, or could not be started: only its own end is left open. */
  attach(child: ChildProcess | undefined): void {
    const fifo = this.#fifo;
    if (fifo !== undefined) closeSync(fifo.writeFd);
    const output = this.#target === 1 ? child?.stdout : child?.stderr;
    const source =
      fifo === undefined
        ? output
        : new Socket({ fd: fifo.readFd, readable: true, writable: false });
    if (source === undefined || source === null) return;
    this.#source = source;
    this.#ended = this.#passOn(source);
  }

  /** Resolves when the output is over, after `ms` at the latest: a daemon may hold it open for ever. */
  async drain(ms: number): Promise<void> {
    await Promise.race([this.#ended, sleep(ms)]);
    this.#source?.destroy();
  }

  #passOn(source: Readable): Promise<void> {
    const out = openSink(this.#target);
    return new Promise((resolve) => {
      source.on("data", (chunk: Buffer) => {
        this.#tail.push(chunk);
        if (out.write(chunk)) return;
        source.pause();
        out.once("drain", () => source.resume());
      });
      // Nobody reads any more: the agent meets the same at its next write.
      out.once("error", () => source.destroy());
      source.once("error", () => source.destroy());
      source.once("end", () => out.end(resolve));
      source.once("close", resolve);
    });
  }
}

interface Fifo {
  readonly readFd: number;
  readonly writeFd: number;
}

/** Made in the root, the one place that can surely be written, and unlinked at once. */
function openFifo(rootFd: number): Fifo | undefined {
  const name = `.fifo.${process.hrtime.bigint().toString(36)}`;
  const path = `/proc/${String(process.pid)}/fd/${String(rootFd)}/${name}`;
  const { error, status } = spawnSync("mkfifo", ["-m", "600", path], { stdio: "ignore" });
  if (error !== undefined || status !== 0) return undefined;
  try {
    const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } finally {
    unlinkSync(path);
  }
}

/**
 * Where the output goes on to, never blocking this process: a write that blocks would also hold up its exit. A
 * pipe is opened once more, so that it becomes non-blocking for nobody else; a socket cannot be.
 */
function openSink(target: number): Writable {
  const kind = fstatSync(target);
  if (kind.isSocket()) return new Socket({ fd: target, readable: false, writable: true });
  const path = atSelf(target);
  if (kind.isFIFO()) {
    const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    return new Socket({ fd, readable: false, writable: true });
  }
  // A file is gone on with, not written over.
  return createWriteStream(path, { flags: "a" });
}

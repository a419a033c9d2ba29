import type { ChildProcess } from "node:child_process";
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { type AgentPipe, type AgentPipes, openAgentPipes } from "./agent-pipes.ts";
import { OutputTee } from "./output-tee.ts";
import { openOutput } from "./own-output.ts";
import { TextTail } from "./text-tail.ts";

/** What the agent printed last, as valid UTF-8. */
export interface Captured {
  readonly response: Buffer;
  readonly failure: Buffer;
}

/** Of stderr, for whoever asks why it failed. */
const maxFailureBytes = 4096;

/**
 * `--capture-response` (WV-15): reads along with the agent's stdout and stderr, which still go where they
 * went. Without FIFOs the agent gets sockets, and `> /dev/stdout`, which cannot open one, fails in it.
 */
export class Capture {
  readonly #pipes: AgentPipes | undefined;
  readonly #response: TextTail;
  readonly #failure: TextTail;
  readonly #stdout: OutputTee;
  readonly #stderr: OutputTee;

  /** Opens everything before there is an agent, since nothing may fail once it runs. */
  constructor(rootFd: number, maxValueBytes: number) {
    this.#pipes = openAgentPipes(rootFd);
    this.#response = new TextTail(maxValueBytes);
    this.#failure = new TextTail(Math.min(maxFailureBytes, maxValueBytes));
    this.#stdout = new OutputTee(openOutput(1), this.#response);
    this.#stderr = new OutputTee(openOutput(2), this.#failure);
  }

  /** The agent's stdout and stderr, for `spawn`. */
  get stdio(): readonly [number | "pipe", number | "pipe"] {
    const [stdout, stderr] = this.#pipes ?? [];
    return [stdout?.writeFd ?? "pipe", stderr?.writeFd ?? "pipe"];
  }

  /** Reads along from here on. To be called once, also where the agent could not be started. */
  attach(agent: ChildProcess | undefined): void {
    const [stdout, stderr] = this.#pipes ?? [];
    attachTee(this.#stdout, stdout, agent?.stdout);
    attachTee(this.#stderr, stderr, agent?.stderr);
  }

  /** The agent is over: waits `drainMs` at most for the rest of its output. */
  async finish(drainMs: number): Promise<Captured> {
    await Promise.all([this.#stdout.finish(drainMs), this.#stderr.finish(drainMs)]);
    return { response: this.#response.bytes(), failure: this.#failure.bytes() };
  }
}

function attachTee(
  tee: OutputTee,
  pipe: AgentPipe | undefined,
  nodes: ChildProcess["stdout"] | undefined,
): void {
  if (pipe !== undefined) {
    // Only the agent and its children hold it open from now on.
    closeSync(pipe.writeFd);
    tee.readFrom(new Socket({ fd: pipe.readFd, readable: true, writable: false }));
  } else if (nodes !== undefined && nodes !== null) tee.readFrom(nodes);
}

import { spawnSync } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, unlinkSync } from "node:fs";
import { at } from "../contract/at.ts";

/** Both ends of a pipe; the reading one does not block. */
export interface AgentPipe {
  readonly readFd: number;
  readonly writeFd: number;
}

/** For the agent's stdout and for its stderr. */
export type AgentPipes = readonly [AgentPipe, AgentPipe];

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const makingMs = 5000;

/**
 * FIFOs, unlinked as soon as they are open: the pipe that Node makes for a child is a socket, and `echo >
 * /dev/stdout` cannot open one. They are made in the root, which can be written because the marker can.
 * Undefined where the image has no `mkfifo` or the volume no FIFOs.
 */
export function openAgentPipes(rootFd: number): AgentPipes | undefined {
  const id = process.hrtime.bigint().toString(36);
  const stdout = `.stdout.${id}`;
  const stderr = `.stderr.${id}`;
  // The child has the folder as its descriptor 3.
  const { status } = spawnSync("mkfifo", ["-m", "600", at(3, stdout), at(3, stderr)], {
    stdio: ["ignore", "ignore", "ignore", rootFd],
    timeout: makingMs,
  });
  const fds: number[] = [];
  const open = (name: string): AgentPipe => {
    // The reading end first: without a reader the writing one would wait for it.
    const readFd = openFifo(rootFd, name, O_RDONLY | O_NONBLOCK, fds);
    return { readFd, writeFd: openFifo(rootFd, name, O_WRONLY, fds) };
  };
  try {
    return status === 0 ? [open(stdout), open(stderr)] : undefined;
  } catch {
    for (const fd of fds) closeSync(fd);
    return undefined;
  } finally {
    for (const name of [stdout, stderr]) unlinkIfThere(rootFd, name);
  }
}

function openFifo(rootFd: number, name: string, flags: number, opened: number[]): number {
  const fd = openSync(at(rootFd, name), flags | O_NOFOLLOW);
  opened.push(fd);
  if (!fstatSync(fd).isFIFO()) throw new Error("not what was made");
  return fd;
}

function unlinkIfThere(rootFd: number, name: string): void {
  try {
    unlinkSync(at(rootFd, name));
  } catch {
    // Never made.
  }
}

import { execFile } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";

/**
 * A pipe for a child's output. The pipes that Node makes are sockets, and what a script writes to /dev/stdout
 * by name cannot open a socket; a FIFO can be opened again.
 */
export interface OutputPipe {
  /** For the child's stdio; to be closed with `closeWriter` once it runs. */
  readonly writeFd: number;
  readonly closeWriter: () => void;
  /** Ends when every writer is gone. */
  readonly reader: Socket;
}

/** Makes the FIFO at `path` and unlinks it at once. */
export async function openOutputPipe(path: string): Promise<OutputPipe> {
  await promisify(execFile)("mkfifo", ["-m", "600", path]);
  // The reading end first, and without waiting for a writer.
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writeFd = openSync(path, constants.O_WRONLY);
  rmSync(path);
  const reader = new Socket({ fd: readFd, readable: true, writable: false });
  return { writeFd, closeWriter: () => closeSync(writeFd), reader };
}

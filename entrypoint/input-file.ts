import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { at } from "../contract/at.ts";
import { writeAll } from "./write-all.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/**
 * A descriptor that gives exactly these bytes, for the agent's stdin. A file, unlinked while it is open: an
 * agent may also open `/dev/stdin` by name, which a pipe of Node's forbids, may leave it unread, and nothing
 * has to be fed to it. Throws the errno, ENOSPC among them.
 */
export function openInput(rootFd: number, bytes: Uint8Array): number {
  const path = at(rootFd, `.stdin.${process.hrtime.bigint().toString(36)}`);
  const writeFd = openSync(path, O_WRONLY | O_CREAT | O_EXCL, 0o600);
  try {
    writeAll(writeFd, bytes);
    return openSync(path, O_RDONLY | O_NOFOLLOW);
  } finally {
    closeSync(writeFd);
    unlinkSync(path);
  }
}

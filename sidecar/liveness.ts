import { unlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { at } from "../contract/at.ts";
import { rootFiles } from "../contract/layout.ts";

/**
 * The liveness socket (WV-7): the entrypoint stays connected while it lives, and the kernel closes the
 * connection when it dies, even by SIGKILL. Anyone in the agent's container can connect, so nothing that
 * comes in is read further than its first byte, and only so many are let in.
 */

const maxConnections = 8;

export interface Liveness {
  /** Connections open now. */
  readonly open: number;
  /** Whether any ever came. */
  readonly seen: boolean;
  /** When the last one closed, in milliseconds since the epoch; undefined while one is open or none came. */
  readonly lastClosedAt: number | undefined;
}

export interface LivenessSocket {
  readonly state: () => Liveness;
  readonly close: () => void;
}

/**
 * Binds `.sidecar.sock` under the root through its descriptor (a socket's path has at most 107 bytes), open
 * to every uid. Undefined where that is not possible: the sidecar does without. `onChange` is called after
 * each connection and each close.
 */
export async function openLivenessSocket(
  rootFd: number,
  { now, onChange }: { readonly now: () => number; readonly onChange: () => void },
): Promise<LivenessSocket | undefined> {
  const path = at(rootFd, rootFiles.socket);
  let open = 0;
  let seen = false;
  let lastClosedAt: number | undefined;
  const sockets = new Set<{ destroy: () => void }>();
  const server = createServer((socket) => {
    seen = true;
    open += 1;
    lastClosedAt = undefined;
    sockets.add(socket);
    // Also resumes the socket, without which its end would not be noticed.
    socket.once("data", () => socket.destroy());
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      open -= 1;
      if (open === 0) lastClosedAt = now();
      onChange();
    });
    onChange();
  });
  server.maxConnections = maxConnections;
  if (!(await listen(server, rootFd, path))) return undefined;
  return {
    state: () => ({ open, seen, lastClosedAt }),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listen(server: Server, rootFd: number, path: string): Promise<boolean> {
  try {
    unlinkSync(path);
  } catch {
    // Nothing there; or it cannot be removed, and then binding says so.
  }
  // The socket is bound within listen(); without write permission for all, other uids could not connect.
  const umask = process.umask(0);
  try {
    return await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(at(rootFd, rootFiles.socket), () => {
        server.on("error", () => undefined);
        resolve(true);
      });
    });
  } catch {
    return false;
  } finally {
    process.umask(umask);
  }
}

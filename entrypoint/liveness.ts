import { connect, type Socket } from "node:net";
import { at } from "../contract/at.ts";
import { rootFiles } from "../contract/layout.ts";

const retryMs = 100;

/**
 * Holds a connection to the sidecar's liveness socket (WV-7): the kernel closes it when this process dies, by
 * SIGKILL too, and that is all it says; nothing is ever sent. Connects at once and again every 100 ms after a
 * failure or a close; never holds the agent back, never keeps the process alive. The path goes through the
 * root's descriptor, which keeps it under the 107 bytes of a socket address. The function it gives back lets
 * go for good.
 */
export function holdLiveness(rootFd: number): () => void {
  let socket: Socket | undefined;
  let retry: NodeJS.Timeout | undefined;
  let released = false;
  const hold = (): void => {
    socket = connect(at(rootFd, rootFiles.socket));
    // Whatever the error, `close` follows it.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      if (!released) retry = setTimeout(hold, retryMs).unref();
    });
    // Read, or the other end's close would go unnoticed.
    socket.resume();
    socket.unref();
  };
  hold();
  return () => {
    released = true;
    clearTimeout(retry);
    socket?.destroy();
  };
}

import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * A server's connections, so that it can end without waiting for those that nobody uses. Node's own
 * closeIdleConnections leaves one that never said a thing, as a client or a balancer may open ahead of its next call.
 */
export class Connections {
  /** Requests under way on each. */
  readonly #requests = new Map<Socket, number>();
  #unused: ReadonlySet<Socket> = new Set();

  constructor(server: Server) {
    server.on("connection", (socket) => {
      this.#requests.set(socket, 0);
      socket.once("close", () => this.#requests.delete(socket));
    });
    server.on("request", ({ socket }, response) => {
      this.#add(socket, 1);
      response.once("close", () => this.#add(socket, -1));
    });
  }

  /**
   * Closes those that were unused at the last call too. To be called again and again: what has come in the meantime
   * has been read by then, and a connection that is closed with something unread takes its last answer along.
   */
  closeUnused(): void {
    const unused = [...this.#requests].filter(([, requests]) => requests === 0);
    for (const [socket] of unused) if (this.#unused.has(socket)) socket.destroy();
    this.#unused = new Set(unused.map(([socket]) => socket));
  }

  /** Gives how many there were. */
  closeAll(): number {
    const sockets = [...this.#requests.keys()];
    for (const socket of sockets) socket.destroy();
    return sockets.length;
  }

  #add(socket: Socket, change: number): void {
    const requests = this.#requests.get(socket);
    if (requests !== undefined) this.#requests.set(socket, requests + change);
  }
}

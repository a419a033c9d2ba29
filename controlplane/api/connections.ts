import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * A server's connections, so that it can end without waiting for those that nobody uses. Node's own
 * closeIdleConnections leaves one that never said a thing, as a client or a balancer may open ahead of its next call.
 */
export class Connections {
  /** Requests under way on each. */
  readonly #requests = new Map<Socket, number>();

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

  closeUnused(): void {
    for (const [socket, requests] of this.#requests) if (requests === 0) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#requests.keys()) socket.destroy();
  }

  #add(socket: Socket, change: number): void {
    const requests = this.#requests.get(socket);
    if (requests !== undefined) this.#requests.set(socket, requests + change);
  }
}

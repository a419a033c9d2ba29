import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { ApiError } from "../api-error.ts";
import { toProblem } from "./problem.ts";
import { securityHeaders } from "./security-headers.ts";

/** For what the HTTP parser refuses, or a request that takes too long: there is nothing but a socket to answer on. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? new ApiError("unavailable", "the request took too long to come")
      : new ApiError("invalid_request", "not a request of HTTP/1.1, or its headers are too long");
  const body = JSON.stringify(toProblem(refusal));
  const headers = {
    ...securityHeaders,
    connection: "close",
    "content-length": String(Buffer.byteLength(body)),
    "content-type": "application/problem+json",
    ...(refusal.status === 503 ? { "retry-after": "1" } : {}),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const status = `HTTP/1.1 ${String(refusal.status)} ${STATUS_CODES[refusal.status] ?? ""}`;
  socket.end(`${status}\r\n${lines.join("")}\r\n${body}`);
}

import { maxHeaderSize, STATUS_CODES } from "node:http";
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
  const refusal = toRefusal(error.code);
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

function toRefusal(code: string | undefined): ApiError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new ApiError(
        "invalid_request",
        `URL and headers have more than ${String(maxHeaderSize)} bytes`,
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new ApiError("unavailable", "the request did not arrive in time");
    default:
      return new ApiError("invalid_request", "not an HTTP request");
  }
}

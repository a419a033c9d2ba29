import { maxHeaderSize, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { ApiError } from "../api-error.ts";
import { problemOf } from "./problem.ts";

/**
 * Answers what never became a request, and so has no reply to answer with: bytes that are no HTTP, headers past
 * their limit, a request that did not arrive in time. The connection is over after that.
 */
export function answerClientError({ code }: Error & { code?: string }, socket: Socket): void {
  if (socket.writable) {
    const refusal = toRefusal(code);
    const body = JSON.stringify(problemOf(refusal));
    const lines = [
      `HTTP/1.1 ${String(refusal.status)} ${STATUS_CODES[refusal.status] ?? ""}`,
      "Content-Type: application/problem+json",
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      ...(refusal.status === 503 ? ["Retry-After: 1"] : []),
      "Connection: close",
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  }
  socket.destroySoon();
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

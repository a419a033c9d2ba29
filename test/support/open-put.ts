import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { formatContentDigest } from "../../contract/tar-feed.ts";

/** The delivery of a pack whose headers have been sent, and of its body so many bytes. */
export interface OpenPut {
  readonly socket: Socket;
  /** Sends the rest of the body, and more if given; gives all that the server says until it closes. */
  readonly finish: (more?: string) => Promise<string>;
}

export function openPut(
  stepUrl: string,
  { run, step, token, body }: { run: string; step: string; token: string; body: Buffer },
  sentBytes = 1,
): OpenPut {
  const socket = connect(Number(new URL(stepUrl).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  const digest = formatContentDigest(createHash("sha256").update(body).digest());
  const lines = [
    `PUT /v1/runs/${run}/steps/${step}/pack?attempt=1 HTTP/1.1`,
    "Host: cp",
    `Authorization: Bearer ${token}`,
    "Wfvar-Instance: pod-1",
    "Content-Type: application/x-tar",
    `Content-Length: ${String(body.length)}`,
    `Content-Digest: ${digest}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  socket.write(body.subarray(0, sentBytes));
  return {
    socket,
    finish: async (more = "") => {
      socket.write(body.subarray(sentBytes));
      if (more !== "") socket.write(more);
      let text = "";
      for await (const chunk of socket) text += String(chunk);
      return text;
    },
  };
}

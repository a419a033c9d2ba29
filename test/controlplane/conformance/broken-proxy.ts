import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request } from "undici";
import { onTestFinished } from "vitest";
import { formatContentDigest } from "../../../contract/tar-feed.ts";

/** One call on its way to the real control plane. */
export interface Call {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The connection broke before all of the body was there. */
  readonly cut: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What stands between: answers a call, with or without the real one's help. Undefined cuts the connection. */
export type Fault = (
  call: Call,
  forward: (call: Call) => Promise<Answer>,
) => Promise<Answer | undefined>;

/** A proxy in front of `target` with one fault; gives its URL. */
export async function startBrokenProxy(target: string, fault: Fault): Promise<string> {
  const agent = new Agent();
  const forward = async ({ method, path, headers, body, cut }: Call): Promise<Answer> => {
    if (cut) return problemAnswer(400, "invalid_request");
    // The client would send the length of a body that came without one.
    if (method === "PUT" && headers["content-length"] === undefined) {
      return problemAnswer(411, "length_required");
    }
    const sent = { method, headers, body: method === "PUT" ? body : null };
    const answer = await request(target + path, { ...sent, dispatcher: agent });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string>,
      body: bytes,
    };
  };
  const server = createServer((incoming, response) => {
    void serve(incoming, response, fault, forward).catch(() => incoming.socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    void agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${String(address.port)}`;
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  fault: Fault,
  forward: (call: Call) => Promise<Answer>,
): Promise<void> {
  const chunks: Buffer[] = [];
  let cut = false;
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    cut = true;
  }
  const headers = incoming.headers as Record<string, string>;
  const call: Call = {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: without(headers, "host", "connection", "transfer-encoding"),
    body: Buffer.concat(chunks),
    cut,
  };
  const answer = await fault(call, forward);
  if (answer === undefined) {
    incoming.socket.destroy();
    return;
  }
  response.writeHead(answer.status, without(answer.headers, "transfer-encoding", "connection"));
  response.end(answer.body);
}

export function problemAnswer(status: number, code: string): Answer {
  const document = { type: "about:blank", title: code, status, code, detail: "refused" };
  return jsonAnswer(status, document, "application/problem+json");
}

export function jsonAnswer(status: number, json: object, type = "application/json"): Answer {
  const body = Buffer.from(JSON.stringify(json));
  return { status, headers: { "content-type": type }, body };
}

/** The same call or answer with another body, whose digest and length are right. */
export function withBody<T extends Call | Answer>(message: T, body: Buffer): T {
  const digest = formatContentDigest(createHash("sha256").update(body).digest());
  const described = { "content-digest": digest, "content-length": String(body.length) };
  return { ...message, body, headers: { ...message.headers, ...described } };
}

export function without(
  headers: Readonly<Record<string, string>>,
  ...names: readonly string[]
): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

export function jsonOf({ body }: Answer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}

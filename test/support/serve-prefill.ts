import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import { formatContentDigest } from "../../contract/tar-feed.ts";

/** Answers every request with one prefill body; gives the URL. */
export async function servePrefill(
  body: Buffer,
  headers: Record<string, string> = {},
): Promise<string> {
  const digest = formatContentDigest(createHash("sha256").update(body).digest());
  const server = createServer((_, response) => {
    const described = {
      "content-type": "application/x-tar",
      "content-digest": digest,
      "content-length": String(body.length),
    };
    response.writeHead(200, { ...described, ...headers }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${String(address.port)}`;
}

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startControlPlane } from "../support/control-plane.ts";
import { goodMarker } from "../support/packs.ts";
import { podEnv, runSidecar } from "../support/sidecar.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** What happens to one connection between sidecar and control plane. */
type Fault = (client: Socket, server: Socket) => void;

function pass(client: Socket, server: Socket): void {
  client.pipe(server).pipe(client);
}

const faults: Record<string, Fault> = {
  "a reset before the body": (client) => void client.resetAndDestroy(),
  "a reset in the middle of the body": (client, server) => {
    let sent = 0;
    client.on("data", (chunk: Buffer) => {
      sent += chunk.length;
      server.write(chunk);
      if (sent > 100_000) {
        client.resetAndDestroy();
        server.resetAndDestroy();
      }
    });
  },
  "an answer lost after the commit": (client, server) => {
    client.pipe(server);
    // The control plane has answered, so it has committed; the sidecar never hears of it.
    server.once("data", () => {
      client.resetAndDestroy();
      server.destroy();
    });
  },
  "an answer cut in its head": (client, server) => {
    client.pipe(server);
    server.once("data", (chunk: Buffer) => client.end(chunk.subarray(0, 20)));
  },
  "an answer cut in its body": (client, server) => {
    client.pipe(server);
    server.once("data", (chunk: Buffer) => client.end(chunk.subarray(0, -10)));
  },
  "a slow reader": (client, server) => {
    server.pipe(client);
    client.on("data", (chunk: Buffer) => {
      client.pause();
      server.write(chunk);
      setTimeout(() => client.resume(), 20);
    });
  },
};

/** A proxy that does each fault in turn, one connection each, and then passes everything. */
async function proxyTo(
  target: string,
  plan: readonly Fault[],
): Promise<{ url: string; connections: () => number }> {
  const { port } = new URL(target);
  let count = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), "127.0.0.1");
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    client.on("close", () => upstream.destroy());
    (plan[count] ?? pass)(client, upstream);
    count += 1;
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${String(address.port)}`, connections: () => count };
}

async function finishedStep() {
  const cp = await startControlPlane();
  const run = await cp.createRun();
  const stamped = await cp.stamp(run, { step: "judge" });
  const root = tempFolder();
  mkdirSync(join(root, "judge"));
  writeFileSync(join(root, "judge/BIG"), "x".repeat(500_000));
  writeFileSync(join(root, "judge/SMALL"), "1");
  writeFileSync(join(root, ".done"), JSON.stringify(goodMarker));
  const stored = async () => {
    const { json } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=judge.`);
    return (json["variables"] as { key: string; size: number }[]).map(({ key, size }) => [
      key,
      size,
    ]);
  };
  return { cp, stamped, root, stored };
}

describe("delivery over a network that fails (WV-12)", () => {
  it.each(Object.entries(faults))("delivers exactly once through %s", async (_, fault) => {
    const { cp, stamped, root, stored } = await finishedStep();
    const proxy = await proxyTo(cp.stepUrl, [fault, fault]);
    const { code, log } = await runSidecar("pack", podEnv(stamped, root, proxy.url));
    expect(code).toBe(0);
    expect(log.at(-1)).toMatchObject({ event: "delivered", receipt: { accepted: 2 } });
    expect(await stored()).toEqual([
      ["judge.big", 500_000],
      ["judge.small", 1],
    ]);
    expect(proxy.connections()).toBeGreaterThan(0);
  });

  it("delivers through every fault in a row", { timeout: 60_000 }, async () => {
    const { cp, stamped, root, stored } = await finishedStep();
    const proxy = await proxyTo(cp.stepUrl, Object.values(faults));
    const { code } = await runSidecar("pack", podEnv(stamped, root, proxy.url));
    expect(code).toBe(0);
    expect(await stored()).toHaveLength(2);
  });

  it("gives up on an answer without end, at its own time, and says what was not delivered", async () => {
    const { stamped, root } = await finishedStep();
    const server = createServer((client) => {
      client.on("error", () => undefined);
      client.once("data", () => {
        client.write(
          "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        );
        const more = (): void => {
          while (!client.destroyed && client.write(`10000\r\n${"x".repeat(65_536)}\r\n`));
        };
        client.on("drain", more);
        more();
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const terminationLog = join(tempFolder(), "termination-log");
    writeFileSync(terminationLog, "");
    const env = {
      ...podEnv(stamped, root, `http://127.0.0.1:${String(address.port)}`),
      WFVAR_DEADLINE: new Date(Date.now() + 1000).toISOString(),
      WFVAR_POD_GRACE: "3s",
      WFVAR_DELIVERY_RESERVE: "2500ms",
      WFVAR_TERMINATION_LOG: terminationLog,
    };
    const { code } = await runSidecar("pack", env);
    expect(code).toBe(11);
    expect(JSON.parse(readFileSync(terminationLog, "utf8"))).toMatchObject({
      state: "not_delivered",
    });
  });
});

describe("TLS", () => {
  function certificates(folder: string): { key: Buffer; cert: Buffer; ca: string } {
    const run = (...argv: string[]): void =>
      void execFileSync("openssl", argv, { cwd: folder, stdio: "ignore" });
    const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    run(
      "req",
      "-x509",
      ...ec,
      "-keyout",
      "ca.key",
      "-out",
      "ca.pem",
      "-days",
      "2",
      "-subj",
      "/CN=test CA",
    );
    run("req", ...ec, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost");
    writeFileSync(join(folder, "san"), "subjectAltName=DNS:localhost,IP:127.0.0.1");
    run(
      "x509",
      "-req",
      "-in",
      "server.csr",
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca.key",
      "-CAcreateserial",
      "-out",
      "server.pem",
      "-days",
      "2",
      "-extfile",
      "san",
    );
    return {
      key: readFileSync(join(folder, "server.key")),
      cert: readFileSync(join(folder, "server.pem")),
      ca: join(folder, "ca.pem"),
    };
  }

  it("is verified, and trusts an issuer of one's own through WFVAR_CA_FILE alone", async () => {
    const { cp, stamped, root, stored } = await finishedStep();
    const { key, cert, ca } = certificates(tempFolder());
    const server = createTlsServer({ key, cert }, (client) => {
      const upstream = connect(Number(new URL(cp.stepUrl).port), "127.0.0.1");
      for (const socket of [client, upstream]) socket.on("error", () => undefined);
      client.pipe(upstream).pipe(client);
    }).listen(0, "127.0.0.1");
    server.on("tlsClientError", () => undefined);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const env = {
      ...podEnv(stamped, root, `https://127.0.0.1:${String(address.port)}`),
      WFVAR_POD_GRACE: "3s",
      WFVAR_DELIVERY_RESERVE: "2500ms",
      WFVAR_DEADLINE: new Date(Date.now()).toISOString(),
    };
    const untrusted = await runSidecar("pack", env);
    expect(untrusted.code).toBe(11);
    expect(JSON.stringify(untrusted.log)).toMatch(/UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED/);
    expect((await runSidecar("pack", { ...env, WFVAR_CA_FILE: ca })).code).toBe(0);
    expect(await stored()).toHaveLength(2);
  });
});

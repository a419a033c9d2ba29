import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { PackReceipt } from "../../contract/wire.ts";
import { podEnv, runSidecar, startSidecar } from "../support/sidecar.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { makeTree } from "../support/tree.ts";

const receipt: PackReceipt = {
  run: "r",
  step: "judge",
  attempt: 1,
  sha256: "0".repeat(64),
  accepted: 1,
  warnings: [],
  status: "succeeded",
  cause: null,
};

interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly url: string | undefined;
  readonly body: Buffer;
}

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

const status =
  (code: number, headers: Record<string, string> = {}, body: object = {}): Respond =>
  (response) => {
    response
      .writeHead(code, { "content-type": "application/json", ...headers })
      .end(JSON.stringify(body));
  };

/** A control plane that answers each try as told, the last answer for ever. */
async function brokenControlPlane(
  answers: readonly Respond[],
): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ headers: request.headers, url: request.url, body: Buffer.concat(chunks) });
      const answer = answers[Math.min(received.length, answers.length) - 1];
      answer?.(response, request);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${String(address.port)}`, received };
}

/** A root whose step is over, and the environment of its sidecar. */
function finishedStep(url: string, more: Record<string, string> = {}): Record<string, string> {
  const root = tempFolder();
  makeTree(root, ["judge/VERDICT=ok", ".done="]);
  const env = podEnv(
    { token: "secret-token", env: { WFVAR_RUN: "r", WFVAR_STEP: "judge" } },
    root,
    url,
  );
  return { ...env, ...more };
}

const quick: Record<string, string> = { "retry-after": "0" };

describe("delivery (WV-12)", () => {
  it.each<{ name: string; failure: Respond }>([
    { name: "500", failure: status(500) },
    { name: "503 with Retry-After", failure: status(503, quick) },
    { name: "408", failure: status(408, quick) },
    { name: "425", failure: status(425, quick) },
    { name: "429", failure: status(429, quick) },
    { name: "a closed connection", failure: (_, request) => request.socket.destroy() },
    {
      name: "a truncated answer",
      failure: (response) => {
        response.writeHead(201, { "content-length": "999" });
        response.write("{");
        response.destroy();
      },
    },
  ])("tries again after $name, byte for byte", async ({ failure }) => {
    const cp = await brokenControlPlane([failure, failure, status(201, {}, receipt)]);
    const { code, log } = await runSidecar("pack", finishedStep(cp.url));
    expect(code).toBe(0);
    expect(cp.received).toHaveLength(3);
    expect(new Set(cp.received.map(({ body }) => body.toString("base64"))).size).toBe(1);
    expect(log.filter(({ event }) => event === "retrying")).toHaveLength(2);
    expect(log.at(-1)).toMatchObject({ event: "delivered", accepted: 1, tries: 3 });
  });

  it.each([400, 403, 404, 409, 411, 413, 422])(
    "does not try again after %d, and says the code",
    async (refusal) => {
      const problem = {
        type: "about:blank",
        title: "",
        status: refusal,
        code: "stale_instance",
        detail: "no",
      };
      const cp = await brokenControlPlane([status(refusal, {}, problem)]);
      const { code, log } = await runSidecar("pack", finishedStep(cp.url));
      expect([code, cp.received.length]).toEqual([10, 1]);
      expect(log.at(-1)).toMatchObject({ event: "failed", code: "refused" });
      expect(String(log.at(-1)?.["message"])).toContain(`${String(refusal)} stale_instance: no`);
    },
  );

  it("does not follow a redirect", async () => {
    const elsewhere = await brokenControlPlane([status(201, {}, receipt)]);
    const cp = await brokenControlPlane([status(307, { location: elsewhere.url })]);
    const { code } = await runSidecar("pack", finishedStep(cp.url));
    expect([code, elsewhere.received.length]).toEqual([10, 0]);
  });

  it("counts a step that was accepted before as delivered", async () => {
    const problem = {
      type: "about:blank",
      title: "",
      status: 409,
      code: "already_packed",
      detail: "",
      accepted_sha256: "1".repeat(64),
    };
    const cp = await brokenControlPlane([status(409, {}, problem)]);
    const { code, log } = await runSidecar("pack", finishedStep(cp.url));
    expect(code).toBe(0);
    expect(log.at(-1)).toMatchObject({ event: "delivered", alreadyPacked: "1".repeat(64) });
  });

  it("reads the token at each try, and tries again where it changed", async () => {
    const env: Record<string, string> = {};
    const cp = await brokenControlPlane([
      (response) => {
        writeFileSync(env["WFVAR_TOKEN_FILE"] ?? "", "rotated-token");
        response.writeHead(401).end();
      },
      status(201, {}, receipt),
    ]);
    Object.assign(env, finishedStep(cp.url));
    expect((await runSidecar("pack", env)).code).toBe(0);
    expect(cp.received.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer secret-token",
      "Bearer rotated-token",
    ]);
  });

  it("uses the time that is left however long it is asked to wait", async () => {
    const cp = await brokenControlPlane([
      status(503, { "retry-after": "3600" }),
      status(201, {}, receipt),
    ]);
    const env = finishedStep(cp.url, {
      WFVAR_DEADLINE: new Date().toISOString(),
      WFVAR_POD_GRACE: "4s",
      WFVAR_DELIVERY_RESERVE: "2500ms",
    });
    expect((await runSidecar("pack", env)).code).toBe(0);
    expect(cp.received).toHaveLength(2);
  });

  it("waits for a token file that is gone for a moment", async () => {
    const cp = await brokenControlPlane([status(201, {}, receipt)]);
    const env = finishedStep(cp.url);
    const file = env["WFVAR_TOKEN_FILE"] ?? "";
    rmSync(file);
    const { end } = startSidecar("pack", env);
    await delay(600);
    writeFileSync(file, "late-token");
    expect((await end).code).toBe(0);
    expect(cp.received[0]?.headers.authorization).toBe("Bearer late-token");
  });

  it.each([{ hello: 1 }, { ...receipt, cause: { code: "of_a_newer_version", message: "" } }])(
    "counts a 201 as delivered whatever its receipt says: %j",
    async (body) => {
      const cp = await brokenControlPlane([status(201, {}, body)]);
      expect((await runSidecar("pack", finishedStep(cp.url))).code).toBe(0);
      expect(cp.received).toHaveLength(1);
    },
  );

  it("does not let Retry-After: 0 switch its backoff off", async () => {
    const cp = await brokenControlPlane([status(503, quick)]);
    const env = finishedStep(cp.url, {
      WFVAR_DEADLINE: new Date().toISOString(),
      WFVAR_POD_GRACE: "5s",
      WFVAR_DELIVERY_RESERVE: "3s",
    });
    expect((await runSidecar("pack", env)).code).toBe(11);
    expect(cp.received.length).toBeLessThan(60);
  });

  it("refuses a grace that leaves no time to deliver", async () => {
    const env = finishedStep("http://127.0.0.1:1", { WFVAR_DELIVERY_RESERVE: "2s" });
    expect((await runSidecar("pack", env)).code).toBe(2);
  });

  it("neither repeats a token that the answer echoes, nor more than a little of it", async () => {
    const detail = `echo Bearer secret-token ${"é".repeat(5000)}`;
    const problem = { type: "about:blank", title: "", status: 403, code: "forbidden", detail };
    const cp = await brokenControlPlane([status(403, {}, problem)]);
    const terminationLog = join(tempFolder(), "termination-log");
    writeFileSync(terminationLog, "");
    const env = finishedStep(cp.url, { WFVAR_TERMINATION_LOG: terminationLog });
    const { code, log } = await runSidecar("pack", env);
    expect(code).toBe(10);
    expect(JSON.stringify(log)).not.toContain("secret-token");
    expect(JSON.stringify(log.at(-1)).length).toBeLessThan(2000);
    expect(JSON.parse(readFileSync(terminationLog, "utf8"))).toMatchObject({ state: "refused" });
  });

  it("gives up on a 401 whose token stays the same", async () => {
    const cp = await brokenControlPlane([status(401)]);
    expect((await runSidecar("pack", finishedStep(cp.url))).code).toBe(10);
    expect(cp.received).toHaveLength(1);
  });

  it("sends what the contract says, and never logs the token", async () => {
    const cp = await brokenControlPlane([status(500), status(201, {}, receipt)]);
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const env = finishedStep(cp.url, { TRACEPARENT: traceparent, WFVAR_ATTEMPT: "3" });
    const { log } = await runSidecar("pack", env);
    const [{ headers, url, body } = { headers: {}, url: "", body: Buffer.alloc(0) }] = cp.received;
    expect(url).toBe("/v1/runs/r/steps/judge/pack?attempt=3");
    expect(headers).toMatchObject({
      authorization: "Bearer secret-token",
      "wfvar-instance": env["WFVAR_INSTANCE"],
      "user-agent": "wfvar-sidecar/0.1.0",
      "content-type": "application/x-tar",
      "content-length": String(body.length),
      "content-digest": `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
      traceparent,
    });
    expect(JSON.stringify(log)).not.toContain("secret-token");
  });

  it("goes on after SIGTERM for what the pod's grace leaves, then says what was lost", async () => {
    const cp = await brokenControlPlane([status(503, quick)]);
    const terminationLog = join(tempFolder(), "termination-log");
    writeFileSync(terminationLog, "");
    const env = finishedStep(cp.url, {
      WFVAR_POD_GRACE: "3s",
      WFVAR_DELIVERY_RESERVE: "2500ms",
      WFVAR_TERMINATION_LOG: terminationLog,
    });
    const { child, end } = startSidecar("pack", env);
    while (cp.received.length === 0) await delay(20);
    const before = cp.received.length;
    const signalledAt = Date.now();
    child.kill("SIGTERM");
    const { code } = await end;
    expect(code).toBe(11);
    expect(Date.now() - signalledAt).toBeGreaterThan(500);
    expect(cp.received.length).toBeGreaterThan(before);
    expect(JSON.parse(readFileSync(terminationLog, "utf8"))).toMatchObject({
      state: "not_delivered",
    });
  });
});

describe("SIGTERM in each phase of a delivery", () => {
  type Phase = "connected" | "headers sent" | "body sent" | "answered with 503" | "answer begun";

  /** Stops the sidecar at one phase of its first try, and takes the pack all the same. */
  async function deliverStoppedAt(
    phase: Phase,
  ): Promise<{ code: number | null; accepted: number }> {
    let accepted = 0;
    let stopped = false;
    let child: ChildProcess | undefined;
    const reached = (now: Phase): boolean => {
      if (stopped || now !== phase) return false;
      stopped = true;
      child?.kill("SIGTERM");
      return true;
    };
    const server = createServer((request, response) => {
      reached("headers sent");
      request.resume();
      request.on("end", () => {
        reached("body sent");
        if (reached("answered with 503")) {
          response.writeHead(503, { "retry-after": "1" }).end();
          return;
        }
        accepted += 1;
        response.writeHead(201, { "content-type": "application/json" });
        const text = JSON.stringify(receipt);
        response.write(text.slice(0, 10));
        reached("answer begun");
        setTimeout(() => response.end(text.slice(10)), 200);
      });
    }).listen(0, "127.0.0.1");
    server.on("connection", () => reached("connected"));
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const env = finishedStep(`http://127.0.0.1:${String(address.port)}`);
    makeTree(env["WORKFLOW_VARIABLES_ROOT"] ?? "", [`judge/BIG=${"x".repeat(900_000)}`]);
    const sidecar = startSidecar("pack", env);
    child = sidecar.child;
    const { code } = await sidecar.end;
    expect(stopped).toBe(true);
    return { code, accepted };
  }

  it.each<Phase>(["connected", "headers sent", "body sent", "answered with 503", "answer begun"])(
    "%s: it is delivered all the same, once",
    async (phase) => {
      expect(await deliverStoppedAt(phase)).toEqual({ code: 0, accepted: 1 });
    },
  );
});

describe("what is packed", () => {
  it("is the same bytes for the same folder, marker and completion (WV-11)", async () => {
    const cp = await brokenControlPlane([status(201, {}, receipt)]);
    const env = finishedStep(cp.url);
    makeTree(env["WORKFLOW_VARIABLES_ROOT"] ?? "", [
      "judge/findings/LOW=2",
      "judge/Z=",
      "judge/.dot=x",
      "judge/L->Z",
    ]);
    await runSidecar("pack", env);
    await delay(1100);
    await runSidecar("pack", env);
    const [first, second] = cp.received.map(({ body }) => body);
    expect(first?.length).toBeGreaterThan(2048);
    expect(second?.equals(first ?? Buffer.alloc(0))).toBe(true);
  });
});

describe("configuration", () => {
  it("reports every problem at once and exits 2", async () => {
    const { code, log } = await runSidecar("pack", {
      WFVAR_CP_URL: "ftp://x",
      WFVAR_POD_GRACE: "soon",
    });
    expect(code).toBe(2);
    const message = String(log.at(-1)?.["message"]);
    for (const name of [
      "WFVAR_CP_URL",
      "WFVAR_TOKEN_FILE",
      "WFVAR_RUN",
      "WFVAR_STEP",
      "WFVAR_INSTANCE",
      "WFVAR_POD_GRACE",
    ]) {
      expect(message).toContain(name);
    }
    expect(message).not.toContain("soon");
  });

  it("refuses http:// beyond loopback unless told", async () => {
    const { code, log } = await runSidecar("pack", finishedStep("http://control-plane.example"));
    expect(code).toBe(2);
    expect(String(log.at(-1)?.["message"])).toContain("WFVAR_ALLOW_HTTP");
  });

  it("exits 12 where the volume is not there", async () => {
    const env = { ...finishedStep("http://127.0.0.1:1"), WORKFLOW_VARIABLES_ROOT: "/nowhere" };
    expect((await runSidecar("pack", env)).code).toBe(12);
  });
});

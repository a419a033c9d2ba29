import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { packReceipt, problem } from "../../contract/wire.ts";
import { startExampleServer, type ExampleServer } from "../support/example-server.ts";
import { goodMarker, makePack, putPack, type PackSpec, type PutOptions } from "../support/packs.ts";
import { podEnv, runSidecar } from "../support/sidecar.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runStep } from "./steps.ts";

describe("the example control plane in Python, with the shipped sidecar and helper", () => {
  it("brings a value from one step to the next byte for byte", async () => {
    const cp = await startExampleServer();
    const folder = tempFolder();
    const [given, got] = [join(folder, "given"), join(folder, "got")];
    const bytes = Buffer.from(`\ufeffa\0\r\n\u{1f600}${"x".repeat(1024 ** 2 - 12)}`);
    writeFileSync(given, bytes);
    const write = cp.stamp("write", { outputs: ["deep.value"] });
    const set = await runStep(cp.url, write, `wfvar set deep.value --file '${given}'`);
    expect(set).toMatchObject({ agent: 0, sidecar: 0 });
    expect(cp.get(write.run, "Write.Deep.VALUE").equals(bytes)).toBe(true);

    const read = cp.stamp("read", { run: write.run, dependsOn: ["write"] });
    const get = await runStep(cp.url, read, `wfvar get write.deep.value > '${got}'; wfvar list ""`);
    expect(get).toMatchObject({ agent: 0, sidecar: 0 });
    expect(get.lines).toEqual(["workflow.run-id", "workflow.template", "write.deep.value"]);
    expect(readFileSync(got).equals(bytes)).toBe(true);
  });

  it("shows a step what it depends on, and in a loop every earlier iteration; nothing else", async () => {
    const cp = await startExampleServer();
    const { run } = cp.stamp("plan");
    const steps = ["plan", "fix_1.check", "fix_2.check", "fix_10.check", "other_1.check"];
    for (const step of steps) {
      const stamped = cp.stamp(step, { run });
      const set = await runStep(cp.url, stamped, "wfvar set v 1");
      expect(set).toMatchObject({ agent: 0, sidecar: 0 });
    }
    const seen = cp.stamp("fix_3.check", { run, dependsOn: ["Plan"] });
    expect((await runStep(cp.url, seen, 'wfvar list ""')).lines).toEqual([
      "fix_1.check.v",
      "fix_2.check.v",
      "plan.v",
      "workflow.run-id",
      "workflow.template",
    ]);
  });

  it("shows the newest accepted attempt, and fences older pods", async () => {
    const cp = await startExampleServer();
    const first = cp.stamp("a");
    await runStep(cp.url, first, "wfvar set gone 1; wfvar set v first");
    const { run } = first;
    await runStep(cp.url, cp.stamp("a", { run }), "wfvar set v second");
    const newest = cp.stamp("a", { run });
    const reader = cp.stamp("b", { run, dependsOn: ["a"] });
    const read = await runStep(cp.url, reader, 'wfvar list ""; wfvar get a.v');
    expect(read.lines).toEqual(["a.v", "workflow.run-id", "workflow.template", "second"]);
    const late = await runSidecar("prefill", podEnv({ ...first }, tempFolder(), cp.url));
    expect(late.code).toBe(10);
    expect(newest.attempt).toBe(3);
  });

  it("counts a repeated delivery as delivered, also after a crash of the control plane", async () => {
    const cp = await startExampleServer();
    const stamped = cp.stamp("judge");
    const root = tempFolder();
    const env = podEnv(stamped, root, cp.url);
    expect((await runSidecar("prefill", env)).code).toBe(0);
    writeFileSync(join(root, "judge", "VERDICT"), "approve");
    writeFileSync(join(root, ".done"), JSON.stringify(goodMarker));
    expect((await runSidecar("pack", env)).code).toBe(0);
    const after = await cp.restart();
    const again = { ...env, WFVAR_CP_URL: after.url };
    expect((await runSidecar("pack", again)).code).toBe(0);
    expect(after.get(stamped.run, "judge.verdict").toString()).toBe("approve");
    writeFileSync(join(root, "judge", "VERDICT"), "reject");
    expect((await runSidecar("pack", again)).code).toBe(0);
    expect(after.get(stamped.run, "judge.verdict").toString()).toBe("approve");
  });
});

async function stampedJudge() {
  const cp = await startExampleServer();
  const { run, token } = cp.stamp("judge", { outputs: ["verdict"] });
  const send = async (spec: Partial<PackSpec> = {}, options: Partial<PutOptions> = {}) => {
    const body = await makePack({ run, step: "judge", ...spec });
    return putPack(cp.url, run, "judge", body, { token, ...options });
  };
  return { cp, run, token, send };
}

describe("what the example answers (API, Step calls)", () => {
  it("is a receipt, and the same one for the same pack", async () => {
    const { send } = await stampedJudge();
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(packReceipt.parse(first.json)).toEqual(first.json);
    expect(second.json).toEqual(first.json);
    expect(first.json).toMatchObject({
      accepted: 0,
      warnings: [{ code: "variables_missing_output", key: "judge.verdict" }],
      status: "succeeded",
    });
  });

  it("is one 201 among eight at once", async () => {
    const { send } = await stampedJudge();
    const spec = { values: { "judge.a": "1" } };
    const statuses = new Set<number>();
    let created = 0;
    const deliver = async (): Promise<void> => {
      for (;;) {
        const { status } = await send(spec);
        if (status === 503) continue;
        statuses.add(status);
        if (status === 201) created += 1;
        return;
      }
    };
    await Promise.all(Array.from({ length: 8 }, deliver));
    expect([created, [...statuses].toSorted((a, b) => a - b)]).toEqual([1, [200, 201]]);
  });

  it.each<[string, string, number, Partial<PackSpec>, Partial<PutOptions>]>([
    ["unauthorized", "no token of ours", 401, {}, { token: "nonsense" }],
    ["invalid_request", "no instance", 400, {}, { headers: { "wfvar-instance": "" } }],
    ["invalid_request", "another media type", 400, {}, { headers: { "content-type": "a/b" } }],
    ["invalid_request", "no digest", 400, {}, { headers: { "content-digest": "" } }],
    ["invalid_request", "attempt 0", 400, {}, { attempt: 0 }],
    ["forbidden", "another attempt", 403, {}, { attempt: 2 }],
    ["invalid_pack", "a pack of another run", 422, { manifest: { run: "other" } }, {}],
    [
      "digest_mismatch",
      "another digest",
      400,
      {},
      { headers: { "content-digest": `sha-256=:${"A".repeat(43)}=:` } },
    ],
  ])("is %s for %s, and leaves the attempt open", async (code, _what, status, spec, options) => {
    const { send } = await stampedJudge();
    const answer = await send(spec, options);
    expect([answer.status, answer.json["code"]]).toEqual([status, code]);
    expect(problem.parse(answer.json)).toEqual(answer.json);
    expect((await send({}, { instance: "pod-2" })).status).toBe(422);
    expect((await send()).status).toBe(201);
  });

  it("is stale_instance and already_packed for the wrong pod and the wrong bytes", async () => {
    const { send } = await stampedJudge();
    const first = await send({ values: { "judge.a": "1" } });
    const other = await send({ instance: "pod-2" }, { instance: "pod-2" });
    expect([other.status, other.json["code"]]).toEqual([409, "stale_instance"]);
    const changed = await send({ values: { "judge.a": "2" } });
    expect([changed.status, changed.json["code"]]).toEqual([409, "already_packed"]);
    expect(changed.json["accepted_sha256"]).toBe(first.json["sha256"]);
  });

  it("is too_large for a body past every limit, and reaches a sender that is still sending", async () => {
    const { cp, run, token } = await stampedJudge();
    const body = Buffer.alloc(16 * 1024 ** 2 + 4 * 1024 ** 2 + 2048 * 1024 + 1);
    const { status, json } = await putPack(cp.url, run, "judge", body, { token });
    expect([status, json["code"]]).toEqual([413, "too_large"]);
  });

  it.each([
    ["POST /v1/runs HTTP/1.1", 404, "not_found"],
    ["GET / HTTP/1.1", 404, "not_found"],
    ["GET /v1/runs/r/steps/if/variables?attempt=1 HTTP/1.1", 400, "invalid_request"],
    ["GET /v1/runs/r/steps/judge/variables HTTP/1.1", 400, "invalid_request"],
    ["GET /v1/runs/r/steps/judge/variables?attempt=1&attempt=2 HTTP/1.1", 400, "invalid_request"],
    ["GET //[x HTTP/1.1", 404, "not_found"],
    ["GET / HTTP/9.9", 400, "invalid_request"],
    ["no request at all", 400, "invalid_request"],
  ])("is a problem document for the line %j", async (line, status, code) => {
    const cp = await startExampleServer();
    const answer = await exchange(cp, `${line}\r\nHost: x\r\nWfvar-Instance: pod\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
    expect(answer).toContain(`"code": "${code}"`);
  });

  it.each([
    ["no length", ""],
    ["chunks", "Transfer-Encoding: chunked\r\n"],
    ["chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"],
    ["two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n"],
  ])("is length_required for a pack with %s", async (_what, headers) => {
    const { cp, run, token } = await stampedJudge();
    const head = `PUT /v1/runs/${run}/steps/judge/pack?attempt=1 HTTP/1.1\r\nHost: x\r\n`;
    const ours = `Authorization: Bearer ${token}\r\nWfvar-Instance: pod-1\r\n`;
    const described = "Content-Type: application/x-tar\r\n";
    const answer = await exchange(cp, `${head}${ours}${described}${headers}\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 411 /);
    expect(answer).toContain('"code": "length_required"');
  });
});

/** Sends raw bytes and gives all that comes back. */
async function exchange(cp: ExampleServer, request: string): Promise<string> {
  const socket = connect(Number(new URL(cp.url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.end(request);
  return text(socket);
}

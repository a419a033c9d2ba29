import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { parseContentDigest } from "../../contract/tar-feed.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { goodMarker, makePack, putPack, type PackSpec } from "../support/packs.ts";
import { readTar } from "../support/read-tar.ts";

async function stamped(body: object = {}) {
  const cp = await startControlPlane();
  const run = await cp.createRun();
  const { token } = await cp.stamp(run, { step: "judge", ...body });
  const send = async (spec: Partial<PackSpec> = {}, options = {}) =>
    putPack(cp.stepUrl, run, "judge", await makePack({ run, step: "judge", ...spec }), {
      token,
      ...options,
    });
  return { cp, run, token, send };
}

describe("accepting a pack (WV-12)", () => {
  it("stores every value byte for byte and answers 201", async () => {
    const { cp, run, send } = await stamped();
    const value = Buffer.from("no newline\r\n\0\u{1f600}");
    const { status, json } = await send({ values: { "judge.verdict": value } });
    expect([status, json["accepted"], json["status"], json["cause"]]).toEqual([
      201,
      1,
      "succeeded",
      null,
    ]);
    const read = await fetch(`${cp.operatorUrl}/v1/runs/${run}/variables/JUDGE.Verdict`, {
      headers: { authorization: `Bearer ${cp.operatorToken}` },
    });
    expect(Buffer.from(await read.arrayBuffer())).toEqual(value);
    const { json: list } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=judge.`);
    expect(list["variables"]).toMatchObject([
      { key: "judge.verdict", size: value.length, set_by: "judge", attempt: 1 },
    ]);
    expect(read.headers.get("etag")).toBe(
      `"${String((list["variables"] as { sha256: string }[])[0]?.sha256)}"`,
    );
  });

  it("takes a value of the whole limit", async () => {
    const { send } = await stamped();
    const { status } = await send({ values: { "judge.big": Buffer.alloc(1024 ** 2, 0x61) } });
    expect(status).toBe(201);
  });

  it("takes the longest step path and the longest key", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const step = `${"l".repeat(56)}_999999.${"s".repeat(64)}`;
    const key = [step, ...Array.from({ length: 6 }, () => "k".repeat(64))].join(".");
    const { token } = await cp.stamp(run, { step });
    const body = await makePack({ run, step, values: { [key]: "deep" } });
    expect((await putPack(cp.stepUrl, run, step, body, { token })).status).toBe(201);
    const read = await fetch(`${cp.operatorUrl}/v1/runs/${run}/variables/${key}`, {
      headers: { authorization: `Bearer ${cp.operatorToken}` },
    });
    expect(await read.text()).toBe("deep");
  });

  it("takes what a newer sidecar adds to its manifest", async () => {
    const { send } = await stamped();
    expect((await send({ manifest: { extra: 1 } })).status).toBe(201);
  });

  it("answers the same body again with 200 and the first answer", async () => {
    const { send } = await stamped();
    const first = await send({ values: { "judge.a": "1" } });
    const second = await send({ values: { "judge.a": "1" } });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.json).toEqual(first.json);
  });

  it("refuses another body of the same instance, naming the accepted digest", async () => {
    const { send } = await stamped();
    const first = await send({ values: { "judge.a": "1" } });
    const { status, json } = await send({ values: { "judge.a": "2" } });
    expect([status, json["code"], json["accepted_sha256"]]).toEqual([
      409,
      "already_packed",
      first.json["sha256"],
    ]);
  });

  it("lets only the first instance have the attempt", async () => {
    const { send } = await stamped();
    await send({ values: {} });
    const { status, json } = await send({ instance: "pod-2" }, { instance: "pod-2" });
    expect([status, json["code"]]).toEqual([409, "stale_instance"]);
  });

  it("refuses an attempt that is not the newest", async () => {
    const { cp, run, send } = await stamped();
    await cp.stamp(run, { step: "judge" });
    const { status, json } = await send();
    expect([status, json["code"]]).toEqual([409, "stale_attempt"]);
  });

  it("accepts two deliveries at once exactly once", async () => {
    const { cp, run, send } = await stamped();
    const answers = await Promise.all(
      Array.from({ length: 2 }, () => send({ values: { "judge.a": "1" } })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 201]);
    const { json } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=judge.`);
    expect(json["variables"]).toHaveLength(1);
  });
});

describe("a step's calls", () => {
  it("have at most two packs of an attempt under way, and say when there is room again", async () => {
    const { cp, run, token, send } = await stamped();
    const { port } = new URL(cp.stepUrl);
    const head =
      `PUT /v1/runs/${run}/steps/judge/pack?attempt=1 HTTP/1.1\r\nHost: cp\r\n` +
      `Authorization: Bearer ${token}\r\nWfvar-Instance: pod-1\r\nContent-Type: application/x-tar\r\n` +
      `Content-Digest: sha-256=:${Buffer.alloc(32).toString("base64")}:\r\nContent-Length: 10240\r\n\r\n`;
    const stalled = [1, 2].map(() => connect(Number(port), "127.0.0.1").resume());
    for (const socket of stalled) socket.write(`${head}x`);
    // The third is refused as soon as both of the others are known to be under way.
    await expect.poll(async () => (await send()).status).toBe(503);
    for (const socket of stalled) socket.destroy();
    await expect.poll(async () => (await send()).status).toBe(201);
  });

  it.each<{ name: string; method: string; path: string; status: number; code: string }>([
    { name: "a HEAD", method: "HEAD", path: "judge/variables?attempt=1", status: 404, code: "" },
    {
      name: "a path that does not decode",
      method: "GET",
      path: "%zz/variables?attempt=1",
      status: 400,
      code: "invalid_request",
    },
    {
      name: "a step path past every limit",
      method: "GET",
      path: `${"x".repeat(2000)}/variables?attempt=1`,
      status: 400,
      code: "invalid_request",
    },
  ])(
    "answer $name with a problem document, and claim nothing",
    async ({ method, path, status, code }) => {
      const { cp, run, token, send } = await stamped();
      const response = await fetch(`${cp.stepUrl}/v1/runs/${run}/steps/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "wfvar-instance": "pod-2" },
      });
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
      const text = await response.text();
      expect(text === "" ? "" : (JSON.parse(text) as { code: string }).code).toBe(code);
      expect((await send()).status).toBe(201);
    },
  );
});

describe("what a pack makes of its step (WV-10)", () => {
  const outputs = [{ key: "verdict" }, { key: "note", required: false }];

  it.each<{
    name: string;
    spec: Partial<PackSpec>;
    policy?: string;
    status: string;
    cause: string | undefined;
    warnings: number;
  }>([
    {
      name: "all outputs there",
      spec: { values: { "judge.verdict": "ok" } },
      status: "succeeded",
      cause: undefined,
      warnings: 0,
    },
    {
      name: "a missing output warns",
      spec: {},
      status: "succeeded",
      cause: undefined,
      warnings: 1,
    },
    {
      name: "a missing output fails where the run says so",
      spec: {},
      policy: "fail",
      status: "failed",
      cause: "variables_missing_output",
      warnings: 1,
    },
    {
      name: "the agent's own failure stands first",
      spec: { marker: { ...goodMarker, outcome: "failed", exit_code: 3 } },
      policy: "fail",
      status: "failed",
      cause: "agent_failed",
      warnings: 1,
    },
    {
      name: "a terminated agent",
      spec: { marker: { ...goodMarker, outcome: "terminated", exit_code: 143, signal: "SIGTERM" } },
      status: "failed",
      cause: "agent_terminated",
      warnings: 1,
    },
    {
      name: "a marker that is none",
      spec: { marker: null },
      status: "failed",
      cause: "marker_invalid",
      warnings: 1,
    },
    {
      name: "a lost agent",
      spec: { manifest: { completion: { by: "lost", marker: null } } },
      status: "failed",
      cause: "lost",
      warnings: 1,
    },
    {
      name: "a limit of the whole pack",
      spec: { manifest: { rejected: [{ code: "step_files_exceeded", path: ".", limit: 1024 }] } },
      status: "failed",
      cause: "step_files_exceeded",
      warnings: 1,
    },
  ])("$name", async ({ spec, policy = "warn", status, cause, warnings }) => {
    const cp = await startControlPlane();
    const run = await cp.createRun({ template: "t", missing_output: policy });
    const { token } = await cp.stamp(run, { step: "judge", outputs });
    const body = await makePack({ run, step: "judge", ...spec });
    const { json } = await putPack(cp.stepUrl, run, "judge", body, { token });
    expect(json["status"]).toBe(status);
    expect((json["cause"] as { code: string } | null)?.code).toBe(cause);
    expect(json["warnings"]).toHaveLength(warnings);
  });
});

describe("refusing a pack as if the sidecar were hostile", () => {
  it.each<{ name: string; spec: Partial<PackSpec>; detail: RegExp }>([
    { name: "another run", spec: { manifest: { run: "other" } }, detail: /^run:/ },
    { name: "another step", spec: { manifest: { step: "other" } }, detail: /^step:/ },
    { name: "another attempt", spec: { manifest: { attempt: 2 } }, detail: /^attempt:/ },
    { name: "another instance", spec: { manifest: { instance: "pod-2" } }, detail: /^instance:/ },
    {
      name: "an unknown code",
      spec: { manifest: { skipped: [{ code: "nope", path: "x" }] } },
      detail: /skipped.0.code/,
    },
    {
      name: "another step's key",
      spec: { values: { "inspect.a": "1" } },
      detail: /no key of this step/,
    },
    {
      name: "the step's own name as a key",
      spec: { values: { judge: "1" } },
      detail: /no key of this step/,
    },
    {
      name: "an uppercase key",
      spec: { values: { "judge.A": "1" } },
      detail: /no key of this step/,
    },
    {
      name: "a bad segment",
      spec: { values: { "judge.a b": "1" } },
      detail: /no key of this step/,
    },
    {
      name: "nine segments",
      spec: { values: { "judge.b.c.d.e.f.g.h.i": "1" } },
      detail: /no key of this step/,
    },
    {
      name: "keys out of order",
      spec: { values: { "judge.b": "1", "judge.a": "1" } },
      detail: /out of order/,
    },
    {
      name: "a key twice",
      spec: {
        manifest: {
          variables: [
            { key: "judge.a", size: 1 },
            { key: "judge.a", size: 1 },
          ],
        },
        entries: [
          ["values/judge.a", "1"],
          ["values/judge.a", "1"],
        ],
      },
      detail: /out of order or twice/,
    },
    {
      name: "a leaf over its folder",
      spec: { values: { "judge.1": "a", "judge.1.x": "b" } },
      detail: /one spelling/,
    },
    {
      name: "not UTF-8",
      spec: { values: { "judge.a": Buffer.from([0xff]) } },
      detail: /not UTF-8/,
    },
    {
      name: "a value over its limit",
      spec: { values: { "judge.a": Buffer.alloc(1024 ** 2 + 1) } },
      detail: /the limit is 1048576/,
    },
    {
      name: "another size than announced",
      spec: {
        manifest: { variables: [{ key: "judge.a", size: 2 }] },
        entries: [["values/judge.a", "1"]],
      },
      detail: /announced/,
    },
    {
      name: "an entry not announced",
      spec: { entries: [["values/judge.a", "1"]] },
      detail: /more entries/,
    },
    {
      name: "an announced entry missing",
      spec: { values: { "judge.a": "1" }, entries: [] },
      detail: /fewer entries/,
    },
    {
      name: "another name",
      spec: { values: { "judge.a": "1" }, entries: [["values/../a", "1"]] },
      detail: /expected the entry/,
    },
    {
      name: "values beside a limit of the whole pack",
      spec: {
        values: { "judge.a": "1" },
        manifest: { rejected: [{ code: "step_bytes_exceeded", path: ".", limit: 1 }] },
      },
      detail: /whole pack/,
    },
  ])("$name", async ({ spec, detail }) => {
    const { cp, run, send } = await stamped();
    const { status, json } = await send(spec);
    expect([status, json["code"]]).toEqual([422, "invalid_pack"]);
    expect(json["detail"]).toMatch(detail);
    const { json: list } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=judge.`);
    expect(list["variables"]).toEqual([]);
    // Nothing was spoiled: a good pack is still accepted.
    expect((await send({ values: { "judge.a": "1" } })).status).toBe(201);
  });

  it("refuses more bytes or files than the run's own limits", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun({
      template: "t",
      limits: { max_step_bytes: 3, max_step_files: 2 },
    });
    const { token } = await cp.stamp(run, { step: "judge" });
    const send = async (values: Record<string, string>) =>
      putPack(cp.stepUrl, run, "judge", await makePack({ run, step: "judge", values }), { token });
    expect((await send({ "judge.a": "12", "judge.b": "34" })).json["detail"]).toMatch(
      /the limit is 3/,
    );
    expect((await send({ "judge.a": "", "judge.b": "", "judge.c": "" })).json["detail"]).toMatch(
      /more than 2 files/,
    );
  });

  it("refuses a body past every limit without reading on", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun({
      template: "t",
      limits: { max_step_bytes: 1024, max_step_files: 1 },
    });
    const { token } = await cp.stamp(run, { step: "judge" });
    const body = await makePack({
      run,
      step: "judge",
      entries: [["values/judge.a", Buffer.alloc(5 * 1024 ** 2)]],
    });
    const { status } = await putPack(cp.stepUrl, run, "judge", body, { token });
    expect(status).toBe(413);
  });

  it.each<{ name: string; headers: Record<string, string>; status: number; code: string }>([
    {
      name: "a wrong digest",
      headers: { "content-digest": `sha-256=:${"A".repeat(43)}=:` },
      status: 400,
      code: "digest_mismatch",
    },
    { name: "no digest", headers: { "content-digest": "" }, status: 400, code: "invalid_request" },
    {
      name: "another media type",
      headers: { "content-type": "application/json" },
      status: 400,
      code: "invalid_request",
    },
  ])("refuses $name", async ({ headers, status, code }) => {
    const { send } = await stamped();
    const answer = await send({ values: { "judge.a": "1" } }, { headers });
    expect([answer.status, answer.json["code"]]).toEqual([status, code]);
  });

  it("refuses a body that is no tar", async () => {
    const { cp, run, token } = await stamped();
    const { status, json } = await putPack(cp.stepUrl, run, "judge", Buffer.alloc(2048, 0x61), {
      token,
    });
    expect([status, json["code"]]).toEqual([422, "invalid_pack"]);
  });
});

describe("step tokens", () => {
  it.each(["judge/variables?attempt=1", "judge/pack?attempt=1", "no step/variables?attempt=x"])(
    "come first: %s without one is 401, whatever else is wrong",
    async (path) => {
      const { cp, run } = await stamped();
      const response = await fetch(`${cp.stepUrl}/v1/runs/${run}/steps/${path}`, {
        method: path.includes("pack") ? "PUT" : "GET",
      });
      expect(response.status).toBe(401);
    },
  );

  it("open exactly their own step attempt", async () => {
    const { cp, run, token } = await stamped();
    const other = await cp.stamp(run, { step: "other" });
    const cases: [string, string, number, string][] = [
      ["judge", token, 201, ""],
      ["judge", "", 401, "unauthorized"],
      ["judge", "garbage", 401, "unauthorized"],
      ["judge", `${token.slice(0, -4)}AAAA`, 401, "unauthorized"],
      ["judge", cp.operatorToken, 401, "unauthorized"],
      ["judge", other.token, 403, "forbidden"],
      ["other", token, 403, "forbidden"],
    ];
    for (const [step, given, status, code] of cases.toReversed()) {
      const body = await makePack({ run, step });
      const answer = await putPack(cp.stepUrl, run, step, body, { token: given });
      expect([step, answer.status, answer.json["code"] ?? ""]).toEqual([step, status, code]);
    }
  });

  it("do not open operator calls", async () => {
    const { cp, token } = await stamped();
    const response = await fetch(`${cp.operatorUrl}/v1/runs`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(401);
  });
});

describe("the prefill (WV-1, WV-8, WV-9)", () => {
  async function prefill(stepUrl: string, run: string, step: string, token: string, attempt = 1) {
    const response = await fetch(
      `${stepUrl}/v1/runs/${run}/steps/${step}/variables?attempt=${String(attempt)}`,
      {
        headers: {
          authorization: `Bearer ${token}`,
          "wfvar-instance": `pod-of-${step}-${String(attempt)}`,
        },
      },
    );
    expect(response.status).toBe(200);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(parseContentDigest(response.headers.get("content-digest"))).toBeDefined();
    expect(Number(response.headers.get("content-length"))).toBe(bytes.length);
    const entries = await readTar(bytes);
    return new Map(entries.map((entry) => [entry.name, entry.bytes.toString()]));
  }

  async function runStep(
    cp: Awaited<ReturnType<typeof startControlPlane>>,
    run: string,
    body: { step: string; depends_on?: string[] },
    values: Record<string, string>,
  ) {
    const { token, attempt } = await cp.stamp(run, body);
    const instance = `pod-of-${body.step}-${String(attempt)}`;
    const seen = await prefill(cp.stepUrl, run, body.step, token, attempt);
    const full = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [`${body.step}.${key}`, value]),
    );
    const pack = await makePack({ run, step: body.step, attempt, instance, values: full });
    const { status } = await putPack(cp.stepUrl, run, body.step, pack, {
      token,
      attempt,
      instance,
    });
    expect(status).toBe(201);
    return seen;
  }

  it("brings the frozen inputs, .step, and direct dependencies only", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun({
      template: "review",
      item: { uuid: "u-1", flow_state: "open" },
      artifacts: { plan: "the plan" },
      inputs: { repo: "." },
    });
    await runStep(cp, run, { step: "a" }, { x: "1" });
    await runStep(cp, run, { step: "b", depends_on: ["a"] }, { "deep.y": "2" });
    const seen = await runStep(cp, run, { step: "c", depends_on: ["b", "never-ran"] }, {});
    expect([...seen.keys()].toSorted()).toEqual([
      ".step",
      "b",
      "b/deep",
      "b/deep/Y",
      "never-ran",
      "workflow",
      "workflow/artifacts.plan",
      "workflow/inputs.repo",
      "workflow/item.flow-state",
      "workflow/item.uuid",
      "workflow/run-id",
      "workflow/template",
    ]);
    expect(seen.get("b/deep/Y")).toBe("2");
    expect(seen.get("workflow/item.uuid")).toBe("u-1");
    expect(JSON.parse(seen.get(".step") ?? "")).toMatchObject({
      version: 1,
      run,
      step: "c",
      attempt: 1,
    });
  });

  it("brings every step of every earlier iteration of the loop", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    await runStep(cp, run, { step: "plan" }, { p: "0" });
    for (const n of [1, 2]) {
      await runStep(
        cp,
        run,
        { step: `fix-loop_${String(n)}.attempt`, depends_on: ["plan"] },
        { t: String(n) },
      );
      await runStep(
        cp,
        run,
        { step: `fix-loop_${String(n)}.check`, depends_on: [`fix-loop_${String(n)}.attempt`] },
        { c: String(n) },
      );
    }
    await runStep(cp, run, { step: "fix-loop2_1.attempt" }, { t: "other loop" });
    const seen = await runStep(
      cp,
      run,
      { step: "fix-loop_3.check", depends_on: ["fix-loop_3.attempt"] },
      {},
    );
    expect([...seen.keys()].filter((name) => /[A-Z]$/.test(name)).toSorted()).toEqual([
      "fix-loop_1/attempt/T",
      "fix-loop_1/check/C",
      "fix-loop_2/attempt/T",
      "fix-loop_2/check/C",
    ]);
  });

  it("shows the newest accepted attempt of a step", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    await runStep(cp, run, { step: "a" }, { gone: "y", x: "first" });
    await runStep(cp, run, { step: "a" }, { x: "second" });
    const seen = await runStep(cp, run, { step: "b", depends_on: ["a"] }, {});
    expect(seen.get("a/X")).toBe("second");
    expect(seen.has("a/GONE")).toBe(false);
  });
});

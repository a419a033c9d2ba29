import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { apiCodes, type ApiCode } from "../../contract/codes.ts";
import { problem } from "../../contract/wire.ts";
import { startControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { makePack, putPack, type PackSpec, type PutOptions } from "../support/packs.ts";

interface Stage {
  readonly cp: TestControlPlane;
  readonly run: string;
  readonly token: string;
  readonly send: (spec?: Partial<PackSpec>, options?: Partial<PutOptions>) => Promise<Answer>;
}

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

/** Each gives an answer with the code and the status that belongs to it. */
const scenarios: Record<ApiCode, [number, (stage: Stage) => Promise<Answer>]> = {
  invalid_request: [400, ({ cp }) => cp.operate("POST", "/v1/runs", { template: "" })],
  invalid_pack: [422, ({ send }) => send({ values: { "other.key": "1" } })],
  digest_mismatch: [
    400,
    ({ send }) => send({}, { headers: { "content-digest": `sha-256=:${"A".repeat(43)}=:` } }),
  ],
  length_required: [411, ({ cp, run, token }) => putWithoutLength(cp.stepUrl, run, token)],
  unauthorized: [401, ({ send }) => send({}, { token: "nonsense" })],
  forbidden: [
    403,
    async ({ cp, run, send }) =>
      send({}, { token: (await cp.stamp(run, { step: "other" })).token }),
  ],
  not_found: [404, ({ cp }) => cp.operate("GET", "/v1/runs/no-such-run")],
  run_exists: [409, ({ cp, run }) => cp.operate("POST", "/v1/runs", { run, template: "another" })],
  attempt_exists: [
    409,
    ({ cp, run }) =>
      cp.operate("POST", `/v1/runs/${run}/steps`, { step: "judge", attempt: 1, depends_on: ["x"] }),
  ],
  already_packed: [409, async ({ send }) => (await send()) && send({ values: { "judge.a": "1" } })],
  stale_instance: [
    409,
    async ({ send }) => (await send()) && send({ instance: "pod-2" }, { instance: "pod-2" }),
  ],
  stale_attempt: [
    409,
    async ({ cp, run, send }) => (await cp.stamp(run, { step: "judge" })) && send(),
  ],
  too_large: [
    413,
    async ({ cp }) => {
      const run = await cp.createRun({
        template: "t",
        limits: { max_step_bytes: 1, max_step_files: 1 },
      });
      const { token } = await cp.stamp(run, { step: "judge" });
      const body = await makePack({
        run,
        step: "judge",
        manifest: { more: { skipped_fifo: 1 }, skipped: [] },
        entries: [],
      });
      return putPack(cp.stepUrl, run, "judge", Buffer.concat([body, Buffer.alloc(5 * 1024 ** 2)]), {
        token,
      });
    },
  ],
  unavailable: [
    503,
    async ({ cp }) => {
      await cp.breakStore();
      return answerOf(await fetch(`${cp.operatorUrl}/readyz`));
    },
  ],
  internal_error: [
    500,
    async ({ cp, run }) => {
      await cp.breakStore();
      return cp.operate("GET", `/v1/runs/${run}`);
    },
  ],
};

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

function putWithoutLength(stepUrl: string, run: string, token: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const put = request(`${stepUrl}/v1/runs/${run}/steps/judge/pack?attempt=1`, {
      method: "PUT",
      headers: {
        authorization: `Bearer ${token}`,
        "wfvar-instance": "pod-1",
        "content-type": "application/x-tar",
        "content-digest": `sha-256=:${"A".repeat(43)}=:`,
        "transfer-encoding": "chunked",
      },
    });
    put.on("error", reject);
    put.on("response", (response) => {
      let answer = "";
      response.on("data", (chunk: Buffer) => (answer += chunk.toString()));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          json: JSON.parse(answer) as Record<string, unknown>,
        }),
      );
    });
    put.end("x");
  });
}

it.each([
  {
    name: "bytes that are no HTTP",
    sent: "\x16\x03\x01 hello\r\n\r\n",
    detail: /not an HTTP request/,
  },
  {
    name: "headers past their limit",
    sent: `GET /v1/runs HTTP/1.1\r\nHost: cp\r\nAuthorization: Bearer ${"x".repeat(20_000)}\r\n\r\n`,
    detail: /more than 16384 bytes/,
  },
])("answers $name with a problem document too", async ({ sent, detail }) => {
  const cp = await startControlPlane();
  for (const url of [cp.stepUrl, cp.operatorUrl]) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(sent);
    const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(head).toMatch(/^Content-Type: application\/problem\+json\r?$/im);
    expect(problem.parse(JSON.parse(body))).toMatchObject({ status: 400, code: "invalid_request" });
    expect(body).toMatch(detail);
  }
});

describe("every code of the API is answered, as a problem document (RFC 9457)", () => {
  it.each(apiCodes)("%s", async (code) => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const { token } = await cp.stamp(run, { step: "judge" });
    const send: Stage["send"] = async (spec = {}, options = {}) =>
      putPack(cp.stepUrl, run, "judge", await makePack({ run, step: "judge", ...spec }), {
        token,
        ...options,
      });
    const [status, act] = scenarios[code];
    const answer = await act({ cp, run, token, send });
    expect([answer.status, answer.json["code"]]).toEqual([status, code]);
    expect(problem.parse(answer.json)).toMatchObject({ status, code });
  });
});

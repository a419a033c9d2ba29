import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { makePack, putPack } from "../../support/packs.ts";

const headers = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

describe("every answer has the headers that keep it to its caller", () => {
  it.each<{ path: string; status: number; method?: string; body?: string }>([
    { path: "/healthz", status: 200 },
    { path: "/readyz", status: 200 },
    { path: "/metrics", status: 200 },
    { path: "/openapi.json", status: 200 },
    { path: "/v1/runs", status: 200 },
    { path: "/v1/runs/mine/variables/workflow.template", status: 200 },
    { path: "/v1/runs/mine/events", status: 200 },
    { path: "/v1/runs/nobody", status: 404 },
    { path: "/nothing", status: 404 },
    { path: "/v1/runs", method: "DELETE", status: 404 },
    { path: "/v1/runs?limit=0", status: 400 },
    { path: "/%zz", status: 400 },
    { path: "/v1/runs", method: "POST", body: "{", status: 400 },
  ])("$status to $path", async ({ path, status, method = "GET", body }) => {
    const cp = await startControlPlane();
    await cp.createRun({ run: "mine", template: "t" });
    const response = await fetch(`${cp.operatorUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${cp.operatorToken}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
    });
    expect(response.status).toBe(status);
    expect(Object.fromEntries(response.headers)).toMatchObject(headers);
    await response.body?.cancel();
  });

  it("500 of a broken store, and 401, and those of the step listener", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const answers = [
      await fetch(`${cp.operatorUrl}/v1/runs`),
      await fetch(`${cp.stepUrl}/v1/runs/${run}/steps/judge/variables?attempt=1`),
      await fetch(`${cp.stepUrl}/v1/runs`),
    ];
    await cp.breakStore();
    answers.push(
      await fetch(`${cp.operatorUrl}/v1/runs`, {
        headers: { authorization: `Bearer ${cp.operatorToken}` },
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 404, 500]);
    for (const answer of answers) {
      expect(Object.fromEntries(answer.headers)).toMatchObject(headers);
      expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    }
  });

  it.each([
    ["no HTTP", "nonsense\r\n\r\n"],
    [
      "headers without an end",
      `GET /healthz HTTP/1.1\r\nHost: cp\r\nx: ${"x".repeat(20_000)}\r\n\r\n`,
    ],
  ])("400 to %s, as a problem document", async (_, bytes) => {
    const cp = await startControlPlane();
    const [head = "", body = ""] = (await exchange(cp, bytes)).split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    for (const [name, value] of Object.entries(headers))
      expect(head).toContain(`${name}: ${value}`);
    expect(JSON.parse(body)).toMatchObject({ status: 400, code: "invalid_request" });
  });
});

async function exchange({ operatorUrl }: TestControlPlane, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(operatorUrl).port), "127.0.0.1");
  socket.write(bytes);
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

describe("a variable's bytes", () => {
  async function read(ifNoneMatch?: (tag: string) => string) {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const { token } = await cp.stamp(run, { step: "judge" });
    const body = await makePack({ run, step: "judge", values: { "judge.verdict": "approve" } });
    await putPack(cp.stepUrl, run, "judge", body, { token });
    const url = `${cp.operatorUrl}/v1/runs/${run}/variables/judge.verdict`;
    const authorization = `Bearer ${cp.operatorToken}`;
    const first = await fetch(url, { headers: { authorization } });
    const tag = String(first.headers.get("etag"));
    if (ifNoneMatch === undefined) return { response: first, tag };
    const again = { authorization, "if-none-match": ifNoneMatch(tag) };
    return { response: await fetch(url, { headers: again }), tag };
  }

  it.each<[string, (tag: string) => string]>([
    ["the tag", (tag) => tag],
    ["a weak tag of it", (tag) => `W/${tag}`],
    ["a list with it", (tag) => `"a", ${tag}`],
    ["any", () => "*"],
  ])("are not sent again to who names %s", async (_, ifNoneMatch) => {
    const { response, tag } = await read(ifNoneMatch);
    expect([response.status, response.headers.get("etag"), await response.text()]).toEqual([
      304,
      tag,
      "",
    ]);
  });

  it.each<[string, (tag: string) => string]>([
    ["another tag", () => `"${"0".repeat(64)}"`],
    ["it without quotes", (tag) => tag.replaceAll('"', "")],
    ["nothing", () => ""],
  ])("are sent to who names %s", async (_, ifNoneMatch) => {
    const { response } = await read(ifNoneMatch);
    expect([response.status, await response.text()]).toEqual([200, "approve"]);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
  });
});

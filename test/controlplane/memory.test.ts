import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { StampedStep } from "../../contract/wire.ts";
import { openPut } from "../support/open-put.ts";
import { makePack, putPack } from "../support/packs.ts";
import { serveControlPlane, type ServedControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

const mebibyte = 1024 ** 2;
const run = "filled";

async function startWith(
  memory: string,
  inputs: Readonly<Record<string, string>>,
  steps: readonly string[],
) {
  const cp = await serveControlPlane(tempFolder(), 0, { WFVAR_PACK_MEMORY: memory });
  const created = await cp.call("POST", "/v1/runs", {
    run,
    template: "t",
    inputs,
    limits: { max_value_bytes: 64 * mebibyte },
  });
  expect(created.status).toBe(201);
  const tokens: string[] = [];
  for (const step of steps) {
    const stamped = await cp.call("POST", `/v1/runs/${run}/steps`, { step });
    tokens.push(((await stamped.json()) as StampedStep).token);
  }
  return { cp, tokens };
}

/** Asks for a prefill and does not read it. */
function stalledPrefill({ stepUrl }: ServedControlPlane, step: string, token: string): Socket {
  const reader = connect(Number(new URL(stepUrl).port), "127.0.0.1").pause();
  reader.write(
    `GET /v1/runs/${run}/steps/${step}/variables?attempt=1 HTTP/1.1\r\nHost: cp\r\n` +
      `Authorization: Bearer ${token}\r\nWfvar-Instance: pod-1\r\n\r\n`,
  );
  return reader;
}

async function held({ operatorUrl }: ServedControlPlane): Promise<number> {
  const text = await (await fetch(`${operatorUrl}/metrics`)).text();
  return Number(/^wfvar_body_memory_bytes (.*)$/m.exec(text)?.[1]);
}

const packOf = (step: string, bytes: number) =>
  makePack({ run, step, values: { [`${step}.v`]: Buffer.alloc(bytes, 0x61) } });

async function send(cp: ServedControlPlane, step: string, token: string, body: Buffer) {
  const response = await fetch(`${cp.stepUrl}/v1/runs/${run}/steps/${step}/variables?attempt=1`, {
    headers: { authorization: `Bearer ${token}`, "wfvar-instance": "pod-1" },
  });
  await response.arrayBuffer();
  return { prefill: response, pack: await putPack(cp.stepUrl, run, step, body, { token }) };
}

describe("the memory for bodies", () => {
  it("has room again once a pack that filled it is over, or given up", async () => {
    const { cp, tokens } = await startWith("1MiB", {}, ["a", "b"]);
    const [a = "", b = ""] = tokens;
    const first = openPut(cp.stepUrl, {
      run,
      step: "a",
      token: a,
      body: await packOf("a", 900_000),
    });
    await expect.poll(() => held(cp)).toBeGreaterThan(900_000);
    const body = await packOf("b", 500_000);
    const refused = await putPack(cp.stepUrl, run, "b", body, { token: b });
    expect([refused.status, refused.json["code"]]).toEqual([503, "unavailable"]);
    first.socket.destroy();
    await expect.poll(() => held(cp)).toBe(0);
    expect((await send(cp, "b", b, body)).pack.status).toBe(201);
    expect(await held(cp)).toBe(0);
  });

  it("lets one body alone be larger than all of it", async () => {
    const { cp, tokens } = await startWith("1KiB", {}, ["a"]);
    const { pack } = await send(cp, "a", tokens[0] ?? "", await packOf("a", mebibyte));
    expect(pack.status).toBe(201);
  });

  it("counts what a prefill of many small values is made of", async () => {
    const names = Array.from({ length: 20_000 }, (_, i) => [`i${String(i)}`, "1"]);
    const { cp, tokens } = await startWith("48MiB", Object.fromEntries(names), ["a"]);
    const reader = stalledPrefill(cp, "a", tokens[0] ?? "");
    await expect.poll(() => held(cp)).toBeGreaterThan(20_000 * 512);
    reader.destroy();
    await expect.poll(() => held(cp)).toBe(0);
  });

  it("is held by a prefill until it is sent, or its pod goes away", async () => {
    // More than a connection's own buffers take up.
    const { cp, tokens } = await startWith("48MiB", { large: "x".repeat(30 * mebibyte) }, [
      "a",
      "b",
    ]);
    const [a = "", b = ""] = tokens;
    const reader = stalledPrefill(cp, "a", a);
    await expect.poll(() => held(cp)).toBeGreaterThan(30 * mebibyte);
    const body = await packOf("b", 1);
    const { prefill } = await send(cp, "b", b, body);
    expect([prefill.status, prefill.headers.get("retry-after")]).toEqual([503, "1"]);
    reader.destroy();
    await expect.poll(() => held(cp)).toBe(0);
    expect((await send(cp, "b", b, body)).prefill.status).toBe(200);
    await expect.poll(() => held(cp)).toBe(0);
  });
});

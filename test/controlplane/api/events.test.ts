import { describe, expect, it } from "vitest";
import { streamEvents } from "../../../controlplane/api/event-stream.ts";
import { startControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { followEvents } from "../../support/event-source.ts";
import { makePack, putPack } from "../../support/packs.ts";
import { serveControlPlane } from "../../support/served-control-plane.ts";
import { tempFolder } from "../../support/temp-folder.ts";

async function follow(cp: TestControlPlane, run: string, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${cp.operatorToken}`;
  return followEvents(`${cp.operatorUrl}/v1/runs/${run}/events`, { authorization, ...headers });
}

async function openStreams(cp: { readonly operatorUrl: string }): Promise<string | undefined> {
  const text = await (await fetch(`${cp.operatorUrl}/metrics`)).text();
  return /^wfvar_event_streams (.*)$/m.exec(text)?.[1];
}

describe("a run's events", () => {
  it("are those that there were, then those that come, each with its number", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun({ template: "t" });
    const { token } = await cp.stamp(run, { step: "judge" });
    const client = await follow(cp, run);
    expect(client.response.headers.get("content-type")).toBe("text/event-stream");
    expect(client.response.headers.get("x-accel-buffering")).toBe("no");
    expect(await client.take(2)).toEqual([
      { id: 1, event: "run_created", data: { at: expect.any(String), template: "t" } },
      { id: 2, event: "step_stamped", data: { at: expect.any(String), step: "judge", attempt: 1 } },
    ]);
    await putPack(cp.stepUrl, run, "judge", await makePack({ run, step: "judge" }), { token });
    expect(await client.take(2)).toMatchObject([
      { id: 3, event: "step_claimed", data: { step: "judge", attempt: 1 } },
      { id: 4, event: "step_ended", data: { step: "judge", status: "succeeded", cause: null } },
    ]);
  });

  it("start after Last-Event-ID", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    for (const step of ["a", "b", "c"]) await cp.stamp(run, { step });
    const client = await follow(cp, run, { "last-event-id": "2" });
    expect((await client.take(2)).map(({ id }) => id)).toEqual([3, 4]);
  });

  it("come each once, in order, to a client that is cut off again and again, while another process adds them", async () => {
    const folder = tempFolder();
    const [reader, writer] = [await serveControlPlane(folder), await serveControlPlane(folder)];
    await writer.call("POST", "/v1/runs", { run: "shared", template: "t" });
    const count = 250;
    const adding = (async () => {
      for (let i = 1; i < count; i += 1) {
        await writer.call("POST", "/v1/runs/shared/steps", { step: "judge", attempt: i });
      }
    })();
    const seen: number[] = [];
    while (seen.length < count) {
      const client = await followEvents(`${reader.operatorUrl}/v1/runs/shared/events`, {
        authorization: `Bearer ${reader.operatorToken}`,
        ...(seen.length === 0 ? {} : { "last-event-id": String(seen.at(-1)) }),
      });
      const events = await client.take(Math.min(60, count - seen.length));
      seen.push(...events.map(({ id }) => id));
      client.leave();
    }
    await adding;
    expect(seen).toEqual(Array.from({ length: count }, (_, i) => i + 1));
    await expect.poll(() => openStreams(reader)).toBe("0");
  });

  it("end in order when the control plane stops", async () => {
    const cp = await serveControlPlane(tempFolder());
    await cp.call("POST", "/v1/runs", { run: "shared", template: "t" });
    const client = await followEvents(`${cp.operatorUrl}/v1/runs/shared/events`, {
      authorization: `Bearer ${cp.operatorToken}`,
    });
    await client.take(1);
    const [ended, code] = await Promise.all([client.ended(), cp.stop()]);
    expect([ended, code]).toEqual([true, 0]);
    expect(cp.log()).not.toContain("connections_cut");
  });

  it("are no longer asked for once the client is gone", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const clients = [await follow(cp, run), await follow(cp, run)];
    await expect.poll(() => openStreams(cp)).toBe("2");
    for (const client of clients) client.leave();
    // Before the heartbeat of 15 s, at which it would be noticed anyway.
    await expect.poll(() => openStreams(cp), { timeout: 10_000 }).toBe("0");
  });

  it("are broken off where the store is, and nothing else with them", async () => {
    const cp = await startControlPlane();
    const client = await follow(cp, await cp.createRun());
    await client.take(1);
    await cp.breakStore();
    expect(await client.ended()).toBe(false);
    expect((await fetch(`${cp.operatorUrl}/healthz`)).status).toBe(200);
    expect(await openStreams(cp)).toBe("0");
  });

  it("say that the connection is alive where nothing happens, and end with their run", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const signal = new AbortController().signal;
    const stream = streamEvents(cp.store, run, { after: 1, heartbeatMs: 1, signal });
    const next = async () => (await stream.next()).value;
    expect([await next(), await next(), await next()]).toEqual([":\n\n", ":\n\n", ":\n\n"]);
    expect(await cp.store.removeRuns("9999-01-01T00:00:00Z", 1)).toBe(1);
    expect(await next()).toBeUndefined();
  });

  it.each([
    { name: "a run that is none", run: "nobody", headers: {}, status: 404, code: "not_found" },
    ...["x", "-1", "1.5", "1e1", " ", "2147483648"].map((id) => ({
      name: `Last-Event-ID ${JSON.stringify(id)}`,
      run: "mine",
      headers: { "last-event-id": id },
      status: 400,
      code: "invalid_request",
    })),
  ])("are refused for $name", async ({ run, headers, status, code }) => {
    const cp = await startControlPlane();
    await cp.createRun({ run: "mine", template: "t" });
    const { response } = await follow(cp, run, headers);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      status,
      code,
    ]);
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openPut } from "../support/open-put.ts";
import { makePack, putPack } from "../support/packs.ts";

/** The samples of a scrape, by name with labels. */
async function scrape({ operatorUrl }: TestControlPlane): Promise<Map<string, number>> {
  const response = await fetch(`${operatorUrl}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const samples = (await response.text()).matchAll(/^(wfvar_\S+) (\S+)$/gm);
  return new Map([...samples].map(([, name = "", value]) => [name, Number(value)]));
}

async function startWithStep() {
  const cp = await startControlPlane();
  const run = await cp.createRun();
  const { token } = await cp.stamp(run, { step: "judge" });
  const body = await makePack({ run, step: "judge", values: { "judge.a": "1" } });
  const prefill = (bearer = token) =>
    fetch(`${cp.stepUrl}/v1/runs/${run}/steps/judge/variables?attempt=1`, {
      headers: { authorization: `Bearer ${bearer}`, "wfvar-instance": "pod-1" },
    });
  return { cp, run, token, body, prefill };
}

describe("metrics", () => {
  it("count packs by what became of them", async () => {
    const { cp, run, token, body } = await startWithStep();
    const put = (bytes: Buffer, bearer = token) =>
      putPack(cp.stepUrl, run, "judge", bytes, { token: bearer });
    await put(Buffer.alloc(2048, 1));
    await put(body, "nonsense");
    await put(body);
    await put(body);
    await put(await makePack({ run, step: "judge" }));
    const samples = await scrape(cp);
    const packs = [...samples].filter(([name]) => name.startsWith("wfvar_packs_total"));
    expect(Object.fromEntries(packs)).toEqual({
      'wfvar_packs_total{result="refused",code="invalid_pack"}': 1,
      'wfvar_packs_total{result="refused",code="unauthorized"}': 1,
      'wfvar_packs_total{result="refused",code="already_packed"}': 1,
      'wfvar_packs_total{result="accepted",code=""}': 1,
      'wfvar_packs_total{result="repeated",code=""}': 1,
    });
    expect(samples.get("wfvar_pack_bytes_total")).toBe(body.length);
    expect(samples.get("wfvar_pack_seconds_count")).toBe(5);
  });

  it("count prefills by what became of them", async () => {
    const { cp, prefill } = await startWithStep();
    const sent = await (await prefill()).arrayBuffer();
    await prefill("nonsense");
    await expect
      .poll(async () => (await scrape(cp)).get('wfvar_prefills_total{result="sent",code=""}'))
      .toBe(1);
    const samples = await scrape(cp);
    expect(samples.get('wfvar_prefills_total{result="refused",code="unauthorized"}')).toBe(1);
    expect(samples.get("wfvar_prefill_bytes_total")).toBe(sent.byteLength);
    expect(samples.get("wfvar_prefill_seconds_count")).toBe(2);
  });

  it("count a pack whose sender went away as aborted, not as a fault", async () => {
    const { cp, run, token, body } = await startWithStep();
    const { socket } = openPut(cp.stepUrl, { run, step: "judge", token, body });
    const held = async () => (await scrape(cp)).get("wfvar_body_memory_bytes");
    await expect.poll(held).toBe(body.length);
    socket.destroy();
    await expect.poll(held).toBe(0);
    const counted = async () =>
      [...(await scrape(cp))].filter(([name]) => name.startsWith("wfvar_packs_total"));
    await expect
      .poll(counted)
      .toEqual([['wfvar_packs_total{result="aborted",code="invalid_request"}', 1]]);
  });

  it("tell of open steps, and of those that nothing was delivered for", async () => {
    const { cp, run, token, body } = await startWithStep();
    await cp.stamp(run, { step: "other" });
    expect((await scrape(cp)).get("wfvar_open_steps")).toBe(2);
    await putPack(cp.stepUrl, run, "judge", body, { token });
    expect((await scrape(cp)).get("wfvar_open_steps")).toBe(1);
  });

  it("are those of the API page, and alerts know no others", async () => {
    const { operatorUrl } = await startControlPlane();
    const text = await (await fetch(`${operatorUrl}/metrics`)).text();
    const typed = [...text.matchAll(/^# TYPE (wfvar_\w+) (\w+)$/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    const page = readFileSync("spec/control-plane-api.md", "utf8");
    const listed = [...page.matchAll(/^\| `(wfvar_\w+)` +\| (\w+) +\|/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    expect(listed.toSorted()).toEqual(typed.toSorted());
    const guide = readFileSync("docs/production.md", "utf8");
    const used = new Set(
      [...guide.matchAll(/wfvar_[a-z_]+(?=[{[)])/g)].map(([name]) => name.replace(/_bucket$/, "")),
    );
    expect(used.size).toBeGreaterThan(3);
    for (const name of used) expect(text).toContain(`# TYPE ${name} `);
  });

  it("are answered while the store is broken: what is in it is not a number then", async () => {
    const { cp, run } = await startWithStep();
    expect((await scrape(cp)).get("wfvar_store_errors_total")).toBe(0);
    await cp.breakStore();
    await cp.operate("GET", `/v1/runs/${run}`);
    const samples = await scrape(cp);
    expect(samples.get("wfvar_open_steps")).toBeNaN();
    expect(samples.get("wfvar_store_errors_total")).toBeGreaterThan(0);
  });
});

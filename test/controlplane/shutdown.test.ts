import { connect } from "node:net";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { StampedStep } from "../../contract/wire.ts";
import { openPut } from "../support/open-put.ts";
import { makePack } from "../support/packs.ts";
import { serveControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

async function serveWithStep() {
  const folder = tempFolder();
  const cp = await serveControlPlane(folder);
  await cp.call("POST", "/v1/runs", { run: "mine", template: "t" });
  const stamped = await cp.call("POST", "/v1/runs/mine/steps", { step: "judge" });
  const { token } = (await stamped.json()) as StampedStep;
  const body = await makePack({ run: "mine", step: "judge", values: { "judge.v": "kept" } });
  return { folder, cp, token, body };
}

describe("a control plane that is told to stop", () => {
  it("finishes the pack that is under way, keeps it, and takes nothing new", async () => {
    const { folder, cp, token, body } = await serveWithStep();
    const put = openPut(cp.stepUrl, { run: "mine", step: "judge", token, body }, 600);
    const metrics = async () => (await fetch(`${cp.operatorUrl}/metrics`)).text();
    await expect.poll(metrics).toMatch(/^wfvar_body_memory_bytes [1-9]/m);
    const exit = cp.stop();
    // It stops to listen at once, and a new connection is the first to tell.
    await expect.poll(() => connects(cp.stepUrl)).toBe(false);
    const answer = await put.finish("GET /v1/runs HTTP/1.1\r\nHost: cp\r\n\r\n");
    // What comes behind it on its connection is refused.
    expect(answer.match(/HTTP\/1.1 \d+|"code":"\w+"/g)).toEqual([
      "HTTP/1.1 201",
      "HTTP/1.1 503",
      '"code":"unavailable"',
    ]);
    expect(await exit).toBe(0);
    expect(cp.log()).not.toContain("connections_cut");
    const next = await serveControlPlane(folder);
    const read = await next.call("GET", "/v1/runs/mine/variables/judge.v");
    expect(await read.text()).toBe("kept");
  });

  it("does not wait for a connection that says nothing", async () => {
    const { cp } = await serveWithStep();
    const silent = connect(Number(new URL(cp.stepUrl).port), "127.0.0.1");
    silent.on("error", () => undefined);
    await once(silent, "connect");
    const closed = once(silent, "close");
    expect(await cp.stop()).toBe(0);
    await closed;
    expect(cp.log()).not.toContain("connections_cut");
  });
});

async function connects(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

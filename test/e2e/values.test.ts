import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serveControlPlane } from "../support/served-control-plane.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { dist } from "../support/dist.ts";
import { tempFolder } from "../support/temp-folder.ts";
import type { StampedStep } from "../../contract/wire.ts";
import { runStep } from "./steps.ts";

const values: Record<string, Buffer> = {
  "no trailing newline": Buffer.from("verdict"),
  "a trailing newline": Buffer.from("verdict\n"),
  empty: Buffer.alloc(0),
  CRLF: Buffer.from("a\r\nb\r\n"),
  NUL: Buffer.from("a\0b\0"),
  "4-byte UTF-8": Buffer.from("\u{1f600}\u{10ffff}"),
  "a byte order mark": Buffer.from("\ufefftext"),
  "1 MiB": Buffer.from("0123456789abcde\n".repeat(65_536)),
};

describe("a value set in one step", () => {
  it.each(Object.entries(values))(
    "comes out of the next step's wfvar get byte for byte: %s",
    async (_, bytes) => {
      const cp = await startControlPlane();
      const folder = tempFolder();
      const [given, got] = [join(folder, "given"), join(folder, "got")];
      writeFileSync(given, bytes);
      const run = await cp.createRun();
      const set = await runStep(
        cp.stepUrl,
        await cp.stamp(run, { step: "write" }),
        `wfvar set deep.value --file '${given}'`,
      );
      expect(set).toMatchObject({ agent: 0, sidecar: 0 });
      const next = await cp.stamp(run, { step: "read", depends_on: ["write"] });
      const get = await runStep(
        cp.stepUrl,
        next,
        `wfvar get write.deep.value > '${got}' && cat '${given}' | wfvar set copy --stdin`,
      );
      expect(get).toMatchObject({ agent: 0, sidecar: 0 });
      expect(readFileSync(got).equals(bytes)).toBe(true);
      const { json } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=read.`);
      expect(json["variables"]).toMatchObject([
        {
          key: "read.copy",
          size: bytes.length,
          sha256: createHash("sha256").update(bytes).digest("hex"),
        },
      ]);
    },
  );
});

describe("what a step leaves", () => {
  it("is delivered and tagged when the agent fails", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const stamped = await cp.stamp(run, { step: "work" });
    const exit = await runStep(
      cp.stepUrl,
      stamped,
      "wfvar set partial 1; echo bad luck >&2; exit 7",
    );
    expect(exit).toMatchObject({ agent: 7, sidecar: 0, lastLine: "bad luck" });
    const { json } = await cp.operate("GET", `/v1/runs/${run}/steps`);
    expect(json["steps"]).toMatchObject([
      { step: "work", status: "failed", cause: { code: "agent_failed" } },
    ]);
    const { json: list } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=work.`);
    expect(list["variables"]).toHaveLength(1);
  });

  it("is delivered when the agent is terminated", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const stamped = await cp.stamp(run, { step: "work" });
    const script = "wfvar set partial 1; kill -TERM $PPID; sleep 60";
    expect((await runStep(cp.stepUrl, stamped, script)).sidecar).toBe(0);
    const { json } = await cp.operate("GET", `/v1/runs/${run}/steps`);
    expect(json["steps"]).toMatchObject([
      { status: "failed", cause: { code: "agent_terminated" } },
    ]);
    const { json: list } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=work.`);
    expect(list["variables"]).toHaveLength(1);
  });

  it("is delivered at the deadline, and the agent is ended", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const deadline = new Date(Date.now() + 2500).toISOString();
    const stamped = await cp.stamp(run, { step: "work", deadline });
    const exit = await runStep(cp.stepUrl, stamped, "wfvar set partial 1; sleep 60");
    expect(exit.sidecar).toBe(0);
    const { json } = await cp.operate("GET", `/v1/runs/${run}/steps`);
    expect(json["steps"]).toMatchObject([{ status: "failed", cause: { code: "deadline" } }]);
  });

  it("can be written to /dev/stdout by name", async () => {
    const cp = await startControlPlane();
    const stamped = await cp.stamp(await cp.createRun(), { step: "work" });
    const exit = await runStep(cp.stepUrl, stamped, "echo one; echo two > /dev/stdout; echo three");
    expect(exit.lines).toEqual(["one", "two", "three"]);
  });
});

describe("wfvar-cp serve", () => {
  it("says in one line that its address is taken", async () => {
    const first = await serveControlPlane(tempFolder());
    const listen = new URL(first.stepUrl).host;
    const argv = [
      join(dist, "controlplane", "main.mjs"),
      "serve",
      "--data-dir",
      tempFolder(),
      "--step-listen",
      listen,
    ];
    const { status, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
    expect([status, stderr]).toEqual([
      2,
      `wfvar-cp: --step-listen ${listen} (WFVAR_STEP_LISTEN): already in use; choose another port\n`,
    ]);
  });
});

describe("a control plane that is killed between two steps", () => {
  it("has everything it acknowledged when it starts again", async () => {
    const dataDir = tempFolder();
    const first = await serveControlPlane(dataDir);
    const { run } = (await (
      await first.call("POST", "/v1/runs", { template: "t", inputs: { repo: "." } })
    ).json()) as { run: string };
    const stamp = async (cp: typeof first, body: object) =>
      (await (await cp.call("POST", `/v1/runs/${run}/steps`, body)).json()) as StampedStep;
    const wrote = await runStep(
      first.stepUrl,
      await stamp(first, { step: "write" }),
      "printf 'exact\\r\\n' | wfvar set verdict --stdin",
    );
    expect(wrote).toMatchObject({ agent: 0, sidecar: 0 });
    const stampedBefore = await stamp(first, { step: "read", depends_on: ["write"] });
    await first.kill();

    const second = await serveControlPlane(dataDir);
    // A token signed before the crash still opens its step's calls.
    const got = join(dataDir, "got");
    const read = await runStep(
      second.stepUrl,
      stampedBefore,
      `wfvar get write.verdict > '${got}'; wfvar get workflow.inputs.repo >> '${got}'`,
    );
    expect(read).toMatchObject({ agent: 0, sidecar: 0 });
    expect(readFileSync(got, "utf8")).toBe("exact\r\n.");
    const steps = (await (await second.call("GET", `/v1/runs/${run}/steps`)).json()) as object;
    expect(steps).toMatchObject({
      steps: [
        { step: "write", status: "succeeded" },
        { step: "read", status: "succeeded" },
      ],
    });
  });

  it("gets the pack of a step that ended while it was down", async () => {
    const dataDir = tempFolder();
    const first = await serveControlPlane(dataDir);
    const { run } = (await (await first.call("POST", "/v1/runs", { template: "t" })).json()) as {
      run: string;
    };
    const stamped = (await (
      await first.call("POST", `/v1/runs/${run}/steps`, { step: "write" })
    ).json()) as StampedStep;
    const go = join(tempFolder(), "go");
    const running = runStep(
      first.stepUrl,
      stamped,
      `wfvar set verdict ok -q; echo ready; until [ -e '${go}' ]; do sleep 0.05; done`,
    );
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await first.kill();
    writeFileSync(go, "");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const second = await serveControlPlane(dataDir, Number(new URL(first.stepUrl).port));
    expect(await running).toMatchObject({ agent: 0, sidecar: 0 });
    const value = await second.call("GET", `/v1/runs/${run}/variables/write.verdict`);
    expect(await value.text()).toBe("ok");
  });
});

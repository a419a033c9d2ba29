import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { startControlPlane } from "../support/control-plane.ts";
import { dist } from "../support/dist.ts";
import { goodMarker } from "../support/packs.ts";
import { podEnv, startSidecar, type SidecarRun } from "../support/sidecar.ts";
import { tempFolder } from "../support/temp-folder.ts";

interface Pod {
  readonly root: string;
  readonly sidecar: SidecarRun;
  /** Starts the real entrypoint; its agent's group goes with the test. */
  readonly agent: (script: string) => ChildProcess;
  /**
   * The completion that the delivered pack was tagged with, and the cause that the control plane recorded.
   */
  readonly outcome: () => Promise<{
    completion: unknown;
    cause: string | undefined;
    accepted: unknown;
    code: number | null;
  }>;
}

interface PreparedPod extends Omit<Pod, "sidecar"> {
  readonly startSidecarNow: () => SidecarRun;
}

/** A pod of two real processes on one volume, neither of which runs yet. */
async function preparedPod(more: Record<string, string> = {}): Promise<PreparedPod> {
  const cp = await startControlPlane();
  const run = await cp.createRun();
  const stamped = await cp.stamp(run, { step: "judge" });
  const root = tempFolder();
  mkdirSync(join(root, "judge"));
  const env = { ...podEnv(stamped, root, cp.stepUrl), ...more };
  let sidecar: SidecarRun | undefined;
  const startSidecarNow = (): SidecarRun => (sidecar = startSidecar("pack", env));
  const agent = (script: string): ChildProcess => {
    const child = spawn(join(dist, "agent", "bin", "entrypoint"), ["--", "sh", "-c", script], {
      env: {
        ...process.env,
        WORKFLOW_VARIABLES_ROOT: root,
        WORKFLOW_VARIABLES_SELF: join(root, "judge"),
        PATH: `${join(dist, "agent", "bin")}:${process.env["PATH"] ?? ""}`,
      },
      stdio: "ignore",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const outcome = async () => {
    const { code, log } = await (sidecar ?? startSidecarNow()).end;
    const delivered = log.find(({ event }) => event === "delivered");
    const { json } = await cp.operate("GET", `/v1/runs/${run}/steps`);
    const [step] = json["steps"] as { cause: { code: string } | null }[];
    return {
      completion: delivered?.["completion"],
      accepted: delivered?.["accepted"],
      cause: step?.cause?.code,
      code,
    };
  };
  return { root, agent, outcome, startSidecarNow };
}

/** A pod whose sidecar waits already. */
async function pod(more: Record<string, string> = {}): Promise<Pod> {
  const prepared = await preparedPod(more);
  const sidecar = prepared.startSidecarNow();
  await standing(prepared.root, ".sidecar.sock");
  return { ...prepared, sidecar };
}

async function standing(root: string, name: string): Promise<void> {
  await expect
    .poll(() => existsSync(join(root, name)), { timeout: 10_000, interval: 10 })
    .toBe(true);
}

function putMarker(root: string): void {
  writeFileSync(join(root, ".pending"), JSON.stringify(goodMarker));
  renameSync(join(root, ".pending"), join(root, ".done"));
}

describe("each way a step ends, with real processes (WV-7)", () => {
  it("marker: the agent is done", async () => {
    const { agent, outcome } = await pod();
    agent("wfvar set a 1");
    expect(await outcome()).toEqual({
      completion: "marker",
      accepted: 1,
      cause: undefined,
      code: 0,
    });
  });

  it("lost: the entrypoint is killed while connected, with the agent", async () => {
    const { root, agent, outcome } = await pod();
    const entrypoint = agent(
      "wfvar set a 1; touch $WORKFLOW_VARIABLES_SELF/.ready; echo $$ > $WORKFLOW_VARIABLES_SELF/.pid; sleep 15",
    );
    await standing(root, "judge/.ready");
    await delay(200);
    entrypoint.kill("SIGKILL");
    expect(await outcome()).toEqual({ completion: "lost", accepted: 1, cause: "lost", code: 0 });
  });

  it("lost: the entrypoint is killed before it could connect", async () => {
    const { root, agent, startSidecarNow, outcome } = await preparedPod();
    const entrypoint = agent("wfvar set a 1; touch $WORKFLOW_VARIABLES_SELF/.ready; sleep 15");
    await standing(root, "judge/.ready");
    entrypoint.kill("SIGKILL");
    await once(entrypoint, "exit");
    startSidecarNow();
    expect(await outcome()).toEqual({ completion: "lost", accepted: 1, cause: "lost", code: 0 });
  });

  it("marker: the entrypoint is killed right after its marker", async () => {
    const { root, agent, outcome } = await pod();
    const entrypoint = agent("wfvar set a 1; sleep 15");
    await standing(root, "judge/A");
    await delay(200);
    putMarker(root);
    entrypoint.kill("SIGKILL");
    expect(await outcome()).toMatchObject({ completion: "marker", accepted: 1, code: 0 });
  });

  it("marker: a forged early marker waits for the connected entrypoint, five seconds and no longer", async () => {
    const { agent, outcome } = await pod();
    const since = Date.now();
    agent(
      "wfvar set a 1; sleep 1; printf '{}' > $WORKFLOW_VARIABLES_ROOT/.done; wfvar set b 2; sleep 15",
    );
    expect(await outcome()).toEqual({
      completion: "marker",
      accepted: 2,
      cause: "marker_invalid",
      code: 0,
    });
    expect(Date.now() - since).toBeGreaterThan(5_500);
    expect(Date.now() - since).toBeLessThan(15_000);
  });

  it("interrupted: nothing was ever connected", async () => {
    const { sidecar, outcome } = await pod();
    sidecar.child.kill("SIGTERM");
    expect(await outcome()).toMatchObject({
      completion: "interrupted",
      cause: "interrupted",
      code: 0,
    });
  });

  it("interrupted: the agent outlives the grace", async () => {
    const { root, sidecar, agent, outcome } = await pod({
      WFVAR_POD_GRACE: "4s",
      WFVAR_DELIVERY_RESERVE: "3s",
    });
    agent("trap '' TERM; wfvar set a 1; touch $WORKFLOW_VARIABLES_SELF/.ready; sleep 15");
    await standing(root, "judge/.ready");
    await delay(200);
    sidecar.child.kill("SIGTERM");
    expect(await outcome()).toMatchObject({ completion: "interrupted", accepted: 1, code: 0 });
  });

  it("marker after SIGTERM: an agent that ends in its grace is waited for", async () => {
    const { root, sidecar, agent, outcome } = await pod();
    const entrypoint = agent(
      "trap 'wfvar set last 1; exit 0' TERM; touch $WORKFLOW_VARIABLES_SELF/.ready; while :; do sleep 0.1; done",
    );
    await standing(root, "judge/.ready");
    await delay(200);
    entrypoint.kill("SIGTERM");
    sidecar.child.kill("SIGTERM");
    expect(await outcome()).toEqual({
      completion: "marker",
      accepted: 1,
      cause: "agent_terminated",
      code: 0,
    });
  });

  it("deadline: whatever the agent does", async () => {
    const { agent, outcome } = await pod({
      WFVAR_DEADLINE: new Date(Date.now() + 2000).toISOString(),
    });
    agent("wfvar set a 1; sleep 15");
    expect(await outcome()).toMatchObject({
      completion: "deadline",
      accepted: 1,
      cause: "deadline",
      code: 0,
    });
  });

  it("never_started: no sign of the agent in time", async () => {
    const { outcome } = await pod({ WFVAR_START_DEADLINE: "500ms" });
    expect(await outcome()).toMatchObject({
      completion: "never_started",
      cause: "never_started",
      code: 0,
    });
  });
});

describe("a native sidecar (WFVAR_LINGER)", () => {
  it("stays after delivery until SIGTERM, and restarted it counts as delivered", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const stamped = await cp.stamp(run, { step: "judge" });
    const root = tempFolder();
    mkdirSync(join(root, "judge"));
    writeFileSync(join(root, "judge/A"), "1");
    putMarker(root);
    const env = { ...podEnv(stamped, root, cp.stepUrl), WFVAR_LINGER: "true" };
    for (const restarted of [false, true]) {
      const { child, end } = startSidecar("pack", env);
      const exit = once(child, "exit").then(() => "exited");
      expect(await Promise.race([exit, delay(1500, "stays")])).toBe("stays");
      child.kill("SIGTERM");
      const { code, log } = await end;
      expect(code).toBe(0);
      expect(log.at(-1)).toMatchObject({ event: "lingering" });
      const delivered = log.find(({ event }) => event === "delivered");
      expect(delivered?.["alreadyPacked"] !== undefined).toBe(restarted);
      // The agent's side changed after acceptance: a restarted sidecar has another body.
      writeFileSync(join(root, "judge/B"), "late");
    }
    const { json } = await cp.operate("GET", `/v1/runs/${run}/variables?prefix=judge.`);
    expect(json["variables"]).toMatchObject([{ key: "judge.a" }]);
  });
});

describe("SIGTERM in each phase of a delivery", () => {
  it.each([0, 50, 100, 150, 200, 300])(
    "%d ms after the marker the step is still delivered",
    async (ms) => {
      const { root, sidecar, outcome } = await pod();
      writeFileSync(join(root, "judge/A"), "1");
      putMarker(root);
      await delay(ms);
      sidecar.child.kill("SIGTERM");
      expect(await outcome()).toMatchObject({ completion: "marker", accepted: 1, code: 0 });
    },
  );
});

import { readFileSync, unlinkSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  fileAppears,
  makeStepFolder,
  readMarker,
  run,
  shell,
  start,
  type StepFolder,
  until,
} from "./harness.ts";

interface Sidecar {
  readonly server: Server;
  readonly connections: Socket[];
  /** Bytes that entrypoints sent. */
  received: number;
}

/** What the sidecar does with its socket, as far as the entrypoint can tell. */
async function listen(step: StepFolder): Promise<Sidecar> {
  const server = createServer();
  const sidecar: Sidecar = { server, connections: [], received: 0 };
  server.on("connection", (socket) => {
    sidecar.connections.push(socket);
    socket.on("data", (bytes) => (sidecar.received += bytes.length)).on("error", () => undefined);
  });
  server.listen(join(step.root, ".sidecar.sock"));
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sidecar.connections) socket.destroy();
  });
  return sidecar;
}

const openIn = ({ connections }: Sidecar): number =>
  connections.filter((socket) => !socket.destroyed).length;

describe("the liveness socket, from the entrypoint's side (WV-7)", () => {
  it("is connected while the agent runs, is sent nothing, and closes after the marker stands", async () => {
    const step = makeStepFolder();
    const sidecar = await listen(step);
    const agent = start(step, shell(`touch "${step.own}/READY"; sleep 0.4`));
    await fileAppears(join(step.own, "READY"));
    await until(() => sidecar.connections.length === 1);
    const [socket] = sidecar.connections;
    let outcomeAtClose: string | undefined;
    socket?.once("close", () => (outcomeAtClose = readMarker(step).outcome));
    expect(openIn(sidecar)).toBe(1);
    await agent.ended;
    await until(() => outcomeAtClose !== undefined);
    expect(outcomeAtClose).toBe("succeeded");
    expect(sidecar.received).toBe(0);
    expect(sidecar.connections).toHaveLength(1);
  });

  it("closes when the entrypoint is killed (prow#210: the waiter waits for ever), though the agent lives on", async () => {
    const step = makeStepFolder();
    const sidecar = await listen(step);
    const agent = start(step, shell(`echo $$ > "${step.own}/PID"; echo; exec sleep 30`));
    let printed = "";
    agent.child.stdout?.on("data", (text: string) => (printed += text));
    await until(() => printed !== "" && openIn(sidecar) === 1);
    const killed = performance.now();
    agent.kill("SIGKILL");
    await until(() => openIn(sidecar) === 0);
    expect(performance.now() - killed).toBeLessThan(1000);
    process.kill(-agentPid(step), "SIGKILL");
    expect((await agent.ended).signal).toBe("SIGKILL");
  });

  it("is found when it comes later than the agent", async () => {
    const step = makeStepFolder();
    const agent = start(step, shell(`touch "${step.own}/READY"; sleep 1.2`));
    await fileAppears(join(step.own, "READY"));
    const sidecar = await listen(step);
    await until(() => openIn(sidecar) === 1, 600);
    await agent.ended;
  });

  it("is found again after the sidecar was restarted", async () => {
    const step = makeStepFolder();
    const first = await listen(step);
    const agent = start(step, shell("sleep 1.5"));
    await until(() => openIn(first) === 1);
    first.server.close();
    first.connections[0]?.destroy();
    const second = await listen(step);
    await until(() => openIn(second) === 1, 600);
    await agent.ended;
  });

  it("keeps no process alive: neither a connection nor the wait for one", async () => {
    const step = makeStepFolder();
    const liveness = join(import.meta.dirname, "../../entrypoint/liveness.ts");
    const script = `import { openSync } from "node:fs";
      import { holdLiveness } from ${JSON.stringify(liveness)};
      holdLiveness(openSync(${JSON.stringify(step.root)}, "r"));
      setTimeout(() => undefined, 250);`;
    const launcher = [process.execPath, "--input-type=module", "-e", script] as const;
    expect((await run(step, [], { launcher, args: [] })).code).toBe(0);
    const sidecar = await listen(step);
    expect((await run(step, [], { launcher, args: [] })).code).toBe(0);
    expect(sidecar.connections).toHaveLength(1);
  });

  it("the agent does not inherit it: its end is the entrypoint's alone", async () => {
    const step = makeStepFolder();
    const sidecar = await listen(step);
    const ended = await run(step, shell("sleep 0.2; ls -l /proc/self/fd"));
    expect(sidecar.connections).toHaveLength(1);
    expect(ended.stdout).toMatch(/ 1 -> /);
    expect(ended.stdout).not.toMatch(/ ([3-9]|\d\d+) -> socket:/);
    expect(ended.stdout).not.toMatch(/variables/);
  });

  it("a sidecar that is not there, or closes every connection, holds nothing up", async () => {
    const step = makeStepFolder();
    expect((await run(step, shell("exit 0"))).ms).toBeLessThan(1500);
    unlinkSync(join(step.root, ".done"));
    const sidecar = await listen(step);
    // An agent may pretend to be the sidecar, and talk.
    sidecar.server.on("connection", (socket: Socket) => socket.end("unread"));
    const ended = await run(step, shell("sleep 0.5; exit 4"));
    expect(ended.code).toBe(4);
    expect(sidecar.connections.length).toBeGreaterThan(1);
    expect(sidecar.connections.length).toBeLessThan(30);
  });
});

function agentPid(step: StepFolder): number {
  return Number(readFileSync(join(step.own, "PID"), "utf8"));
}

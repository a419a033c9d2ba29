import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Agent, request } from "undici";
import { formatContentDigest } from "../../contract/tar-feed.ts";
import type { StampedStep } from "../../contract/wire.ts";
import { makePack } from "../support/packs.ts";
import { median, type Figure } from "./ratio.ts";

const connections = 8;
const rounds = 9;
const packsPerRound = 200;
const largeRun = 10_000;
const smallRun = 10;
const network = new Agent({ connections });

interface Sending {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Accepted packs (10 values of 1 KiB) against a bare server that stores the same body, and against the run's size. */
export async function benchControlPlane(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "wfvar-bench-"));
  const bare = spawnServer(["test/bench/bare-server.ts", join(folder, "bare.db")]);
  const listen = ["--step-listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0"];
  const main = resolve("dist", "controlplane", "main.mjs");
  const served = spawnServer([
    main,
    "serve",
    "--data-dir",
    folder,
    "--log-level",
    "error",
    ...listen,
  ]);
  try {
    const bareUrl = `http://127.0.0.1:${await lineOf(bare, /^(\d+)$/)}/`;
    const stepUrl = await lineOf(served, /step calls +(\S+)/);
    const operatorUrl = await lineOf(served, /operator calls +(\S+)/);
    const token = readFileSync(join(folder, "operator-token"), "utf8").trim();
    const cp = new Bench(stepUrl, operatorUrl, token);

    const against: number[] = [];
    for (let round = -2; round < rounds; round += 1) {
      const packs = await cp.prepare(`rate-${String(round)}`, packsPerRound);
      const ours = await sendAll(packs);
      const theirs = await sendAll(packs.map((each) => ({ ...each, url: bareUrl })));
      if (round >= 0) against.push(ours / theirs);
    }

    await sendAll(await cp.prepare("large", largeRun));
    const grown: number[] = [];
    for (let round = -2; round < rounds; round += 1) {
      const inLarge = await sendAll(
        await cp.prepare("large", packsPerRound, `r${String(round + 2)}`),
      );
      const small: Sending[] = [];
      for (let run = 0; run < packsPerRound / smallRun; run += 1) {
        small.push(...(await cp.prepare(`small-${String(round)}-${String(run)}`, smallRun)));
      }
      const inSmall = await sendAll(small);
      if (round >= 0) grown.push(inLarge / inSmall);
    }
    return [
      {
        name: "accepting a pack of 10 values of 1 KiB",
        ratio: median(against),
        floor: "node:http and SQLite alone",
      },
      {
        name: `accepting in a run of ${String(largeRun)} steps`,
        ratio: median(grown),
        floor: `a run of ${String(smallRun)}`,
      },
    ];
  } finally {
    bare.kill();
    served.kill();
    rmSync(folder, { recursive: true });
  }
}

class Bench {
  readonly #stepUrl: string;
  readonly #operatorUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(stepUrl: string, operatorUrl: string, token: string) {
    this.#stepUrl = stepUrl;
    this.#operatorUrl = operatorUrl;
    this.#headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  }

  /** Stamps so many steps of a run, fetches their prefills, and makes their packs. */
  async prepare(run: string, count: number, prefix = "s"): Promise<Sending[]> {
    await this.#post("/v1/runs", { run, template: "bench" });
    const sendings: Sending[] = [];
    await inParallel(count, async (i) => {
      const step = `${prefix}-${String(i)}x`;
      const { token } = (await this.#post(`/v1/runs/${run}/steps`, { step })) as StampedStep;
      const values = Object.fromEntries(
        Array.from({ length: 10 }, (_, n) => [`${step}.v${String(n)}`, text(run, i, n)]),
      );
      const body = await makePack({ run, step, values });
      const digest = formatContentDigest(createHash("sha256").update(body).digest());
      const call = `${this.#stepUrl}/v1/runs/${run}/steps/${step}`;
      const pod = { authorization: `Bearer ${token}`, "wfvar-instance": "pod-1" };
      // As a pod does, which claims the attempt with it.
      const prefill = `${call}/variables?attempt=1`;
      await (await request(prefill, { headers: pod, dispatcher: network })).body.dump();
      sendings.push({
        url: `${call}/pack?attempt=1`,
        headers: { ...pod, "content-type": "application/x-tar", "content-digest": digest },
        body,
      });
    });
    return sendings;
  }

  async #post(path: string, body: object): Promise<unknown> {
    const answer = await request(`${this.#operatorUrl}${path}`, {
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify(body),
      dispatcher: network,
    });
    if (answer.statusCode > 201) throw new Error(`${path}: ${await answer.body.text()}`);
    return answer.body.json();
  }
}

/** No two values alike: equal ones would be stored once. */
function text(run: string, i: number, n: number): string {
  return `${run} ${String(i)} ${String(n)} `.padEnd(1024, "x");
}

/** Milliseconds for all of them, a few at a time. */
async function sendAll(sendings: readonly Sending[]): Promise<number> {
  const start = performance.now();
  await inParallel(sendings.length, async (i) => {
    const { url, headers, body } = sendings[i] ?? sendings[0] ?? { url: "", headers: {}, body: "" };
    const answer = await request(url, { method: "PUT", headers, body, dispatcher: network });
    await answer.body.dump();
    if (answer.statusCode !== 201) throw new Error(`${url}: ${String(answer.statusCode)}`);
  });
  return performance.now() - start;
}

async function inParallel(count: number, use: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) await use(i);
  };
  await Promise.all(Array.from({ length: connections }, work));
}

function spawnServer(argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
}

const printed = new WeakMap<ChildProcess, string[]>();

/** What the pattern finds in the first line that has it. */
async function lineOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  let lines = printed.get(child);
  if (lines === undefined) {
    lines = [];
    printed.set(child, lines);
    if (child.stdout === null) throw new Error("no stdout");
    createInterface({ input: child.stdout }).on("line", (line) => lines?.push(line));
  }
  for (;;) {
    const found = lines.map((line) => pattern.exec(line)?.[1]).find((each) => each !== undefined);
    if (found !== undefined) return found;
    if (child.exitCode !== null) throw new Error("the server ended");
    if (child.stdout !== null)
      await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  }
}

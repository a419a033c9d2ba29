import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import { dist } from "./dist.ts";
import { freePort } from "./free-port.ts";

/** `wfvar-cp serve` as a process of its own, over a data folder that outlives it. */
export interface ServedControlPlane {
  readonly stepUrl: string;
  readonly operatorUrl: string;
  readonly operatorToken: string;
  /** An operator call with its token; JSON in, the response out. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<Response>;
  /** What it has logged so far. */
  readonly log: () => string;
  /** SIGKILL, as a crash would. */
  readonly kill: () => Promise<void>;
  /** SIGTERM; the exit code comes when what was under way is over. */
  readonly stop: () => Promise<number | null>;
}

export async function serveControlPlane(
  dataDir: string,
  stepPort = 0,
  env: Readonly<Record<string, string>> = {},
): Promise<ServedControlPlane> {
  const port = stepPort === 0 ? await freePort() : stepPort;
  const child = spawn(
    process.execPath,
    [join(dist, "controlplane", "main.mjs"), "serve", "--data-dir", dataDir],
    {
      env: {
        ...process.env,
        WFVAR_STEP_LISTEN: `127.0.0.1:${String(port)}`,
        WFVAR_OPERATOR_LISTEN: "127.0.0.1:0",
        WFVAR_LOG_LEVEL: "warn",
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const operatorUrl = await urlAfter(child.stdout, "operator calls");
  if (operatorUrl === undefined) throw new Error(`the control plane ended at its start: ${log}`);
  const tokenFile = env["WFVAR_OPERATOR_TOKEN_FILE"] ?? join(dataDir, "operator-token");
  const token = readFileSync(tokenFile, "utf8").trim();
  return {
    stepUrl: `http://127.0.0.1:${String(port)}`,
    operatorUrl,
    operatorToken: token,
    call: (method, path, body) =>
      fetch(`${operatorUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    log: () => log,
    kill: async () => {
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
    stop: async () => {
      const exit = once(child, "close");
      child.kill("SIGTERM");
      const [code] = (await exit) as [number | null];
      return code;
    },
  };
}

async function urlAfter(out: Readable, label: string): Promise<string | undefined> {
  for await (const line of createInterface({ input: out })) {
    const [, url] = new RegExp(`${label}\\s+(\\S+)`).exec(line) ?? [];
    if (url !== undefined) return url;
  }
  return undefined;
}

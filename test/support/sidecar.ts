import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { StampedStep } from "../../contract/wire.ts";
import { dist } from "./dist.ts";
import { tempFolder } from "./temp-folder.ts";

/** The environment of one pod's sidecar: same instance for prefill and pack. */
export function podEnv(
  stamped: Pick<StampedStep, "token" | "env">,
  root: string,
  cpUrl: string,
): Record<string, string> {
  const tokenFile = join(tempFolder(), "token");
  writeFileSync(tokenFile, `${stamped.token}\n`);
  return {
    ...stamped.env,
    WORKFLOW_VARIABLES_ROOT: root,
    WFVAR_CP_URL: cpUrl,
    WFVAR_TOKEN_FILE: tokenFile,
    WFVAR_INSTANCE: randomUUID(),
  };
}

export interface SidecarRun {
  readonly child: ChildProcess;
  /** Resolves at its exit. */
  readonly end: Promise<{ code: number | null; log: LogLine[] }>;
}

export type LogLine = Record<string, unknown> & { readonly event: string };

/** The built sidecar, with nothing in its environment but what is given. */
export function startSidecar(
  command: string,
  env: Record<string, string>,
  flags: readonly string[] = [],
): SidecarRun {
  const child = spawn(process.execPath, [join(dist, "sidecar", "main.mjs"), command, ...flags], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const chunks: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  const end = once(child, "close").then(([code]: unknown[]) => {
    const lines = Buffer.concat(chunks).toString().trim().split("\n").filter(Boolean);
    const log = lines.map((line) => JSON.parse(line) as LogLine);
    return { code: typeof code === "number" ? code : null, log };
  });
  return { child, end };
}

export async function runSidecar(
  command: string,
  env: Record<string, string>,
  flags: readonly string[] = [],
): ReturnType<() => SidecarRun["end"]> {
  return startSidecar(command, env, flags).end;
}

/** What a command that talks to people prints. */
export async function sidecarSays(
  words: readonly string[],
  env: Record<string, string>,
): Promise<{ code: unknown; stdout: string }> {
  const child = spawn(process.execPath, [join(dist, "sidecar", "main.mjs"), ...words], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const [code] = (await once(child, "close")) as unknown[];
  return { code, stdout };
}

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { readSettings } from "../../contract/settings.ts";
import { serveSettings } from "../../controlplane/config.ts";
import { dist } from "../support/dist.ts";
import { freePort } from "../support/free-port.ts";
import { tempFolder } from "../support/temp-folder.ts";

export interface AsWritten {
  /** Of the container: `serve` and its flags. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The folders that it mounts, which are folders here. */
  readonly mounts: readonly string[];
  /** Where those folders are: for a second replica, with the secrets of the first. */
  readonly folder?: string;
}

export interface ServedAsWritten {
  readonly stepUrl: string;
  readonly operatorUrl: string;
  /** Where a path of the container is here. */
  readonly at: (path: string) => string;
  /** The same image with another command, in the same container. */
  readonly exec: (...argv: readonly string[]) => ChildProcess;
  readonly child: ChildProcess;
}

const main = join(dist, "controlplane", "main.mjs");

/**
 * Starts `wfvar-cp serve` with what a manifest says, but on ports and folders that are free here. Its secrets are
 * made first where they are not there, as the manifest's own comment says.
 */
export async function serveAsWritten(written: AsWritten): Promise<ServedAsWritten> {
  const { args, env, mounts, folder = tempFolder() } = written;
  const [subcommand, ...flags] = args;
  const { values, words, problems } = readSettings(serveSettings, flags, env);
  if (subcommand !== "serve" || words.length > 0 || problems.length > 0) {
    throw new Error(`not a call of serve: ${[...words, ...problems].join("; ")}`);
  }
  for (const mount of mounts) mkdirSync(join(folder, mount), { recursive: true });
  const at = (text: string): string =>
    mounts.some((mount) => text === mount || text.startsWith(`${mount}/`))
      ? join(folder, text)
      : text;
  const here: Record<string, string> = {
    ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, at(value)])),
    WFVAR_STEP_LISTEN: `${values.stepListen.host}:${String(await freePort())}`,
    WFVAR_OPERATOR_LISTEN: `${values.operatorListen.host}:${String(await freePort())}`,
    PATH: process.env["PATH"] ?? "",
  };
  const exec = (...argv: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [main, ...argv], {
      env: here,
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const [made] = (await once(exec("token", "make"), "exit")) as [number | null];
  if (made !== 0) throw new Error("token make failed");
  const child = exec(...args);
  const urls = await urlsOf(child);
  return { ...urls, at, exec, child };
}

async function urlsOf(child: ChildProcess): Promise<{ stepUrl: string; operatorUrl: string }> {
  if (child.stdout === null) throw new Error("no stdout");
  let stepUrl = "";
  for await (const line of createInterface({ input: child.stdout })) {
    const [, name, url = ""] = /(step|operator) calls\s+(\S+)/.exec(line) ?? [];
    // It listens on every address; this is one of them.
    const loopback = url.replace("0.0.0.0", "127.0.0.1");
    if (name === "step") stepUrl = loopback;
    if (name === "operator") return { stepUrl, operatorUrl: loopback };
  }
  throw new Error("the control plane ended before it listened");
}

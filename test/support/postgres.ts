import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { freePort } from "./free-port.ts";

/** A PostgreSQL server of its own, in a folder of its own. */
export interface TestPostgres extends AsyncDisposable {
  /** A fresh database in it, by its URL. */
  readonly createDatabase: () => Promise<string>;
  /** SIGKILL to every process of it, as a crash would; `start` has it back. */
  readonly crash: () => Promise<void>;
  readonly start: () => Promise<void>;
}

export async function startPostgres(): Promise<TestPostgres> {
  const bin = installPostgres();
  const folder = mkdtempSync(join(tmpdir(), "wfvar-postgres-"));
  const user = serverUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const options = { ...user, env: { LC_ALL: "C" }, stdio: "ignore" } as const;
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "wfvar", "-A", "trust", "-E", "UTF8"],
    options,
  );
  const port = await freePort();
  const url = (database: string): string =>
    `postgres://wfvar@127.0.0.1:${String(port)}/${database}`;
  let server: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const settings = ["max_connections=200", "listen_addresses=127.0.0.1"];
    server = spawn(
      join(bin, "postgres"),
      ["-D", data, "-p", String(port), "-k", folder, ...settings.flatMap((each) => ["-c", each])],
      { ...options, detached: true },
    );
    for (;;) {
      try {
        await query(url("postgres"), "SELECT 1");
        return;
      } catch {
        await delay(50);
      }
    }
  };
  const stop = async (signal: "SIGKILL" | "SIGQUIT"): Promise<void> => {
    if (server?.pid === undefined || server.exitCode !== null) return;
    const exit = once(server, "exit");
    process.kill(signal === "SIGKILL" ? -server.pid : server.pid, signal);
    await exit;
  };
  await start();
  let made = 0;
  return {
    createDatabase: async () => {
      made += 1;
      await query(url("postgres"), `CREATE DATABASE wfvar_${String(made)}`);
      return url(`wfvar_${String(made)}`);
    },
    crash: () => stop("SIGKILL"),
    start,
    [Symbol.asyncDispose]: async () => {
      await stop("SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function query(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The folder of the server's programs, from the distribution's package. */
function installPostgres(): string {
  const versions = "/usr/lib/postgresql";
  if (!existsSync(versions)) {
    execFileSync("apt-get", ["update", "-qq"], { stdio: "ignore" });
    execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "postgresql"], {
      stdio: "ignore",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  }
  const [newest] = readdirSync(versions).toSorted((a, b) => Number(b) - Number(a));
  return join(versions, newest ?? "", "bin");
}

/** PostgreSQL does not run as root. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number =>
    Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { dist } from "../support/dist.ts";
import { makePack, putPack } from "../support/packs.ts";
import { serveControlPlane, type ServedControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

const main = join(dist, "controlplane", "main.mjs");

/** Beside a control plane of this very process tree, so that nothing here waits for it. */
async function wfvarCp(...argv: string[]) {
  const env = { PATH: process.env["PATH"] };
  const child = spawn(process.execPath, [main, ...argv], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [[status], stdout, stderr] = await Promise.all([
    once(child, "close") as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { status, stdout, stderr };
}

async function stamp(cp: ServedControlPlane, run: string): Promise<string> {
  await cp.call("POST", "/v1/runs", { run, template: "t" });
  const stamped = await cp.call("POST", `/v1/runs/${run}/steps`, { step: "judge" });
  return String(((await stamped.json()) as { token: unknown }).token);
}

async function deliver(cp: ServedControlPlane, run: string, token: string): Promise<number> {
  const body = await makePack({ run, step: "judge", values: { "judge.v": run } });
  return (await putPack(cp.stepUrl, run, "judge", body, { token })).status;
}

function headerOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString());
}

describe("wfvar-cp token", () => {
  it("rotates the step key under a running control plane, and loses no step", async () => {
    const dataDir = tempFolder();
    const cp = await serveControlPlane(dataDir);
    const rotate = () =>
      wfvarCp("token", "rotate-step-key", "--rotate-delay", "0s", "--data-dir", dataDir);
    const old = await stamp(cp, "old");
    const first = await wfvarCp("token", "show", "--data-dir", dataDir);
    expect(await rotate()).toMatchObject({ status: 0, stderr: "" });
    const fresh = await stamp(cp, "fresh");
    expect(headerOf(fresh)).not.toEqual(headerOf(old));
    expect(await deliver(cp, "old", old)).toBe(201);
    expect(await deliver(cp, "fresh", fresh)).toBe(201);
    const { stdout } = await wfvarCp("token", "show", "--data-dir", dataDir);
    expect(stdout.split("\n")).toEqual([expect.any(String), first.stdout.trim(), ""]);

    // The one before the last is dropped, and what it signed with it.
    expect((await rotate()).stdout).toMatch(/dropped: its tokens open nothing$/m);
    expect(await deliver(cp, "fresh", fresh)).toBe(200);
    expect(await deliver(cp, "old", old)).toBe(401);
    expect(statSync(join(dataDir, "step-key.json")).mode & 0o777).toBe(0o600);
  });

  it("lets a new key sign only when every replica may have it", async () => {
    const dataDir = tempFolder();
    const cp = await serveControlPlane(dataDir);
    const before = headerOf(await stamp(cp, "before"));
    const rotate = ["token", "rotate-step-key", "--data-dir", dataDir];
    expect((await wfvarCp(...rotate)).status).toBe(0);
    expect(headerOf(await stamp(cp, "after"))).toEqual(before);
    const early = await wfvarCp(...rotate);
    expect([early.status, early.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^wfvar-cp: the step keys \S+: the newest key signs only from \S+; rotate after that\n$/,
      ),
    ]);
  });

  it("makes what a control plane needs ahead of it, once", async () => {
    const dataDir = join(tempFolder(), "secrets");
    const files = ["operator-token", "step-key.json"].map((name) => join(dataDir, name));
    const contents = () => files.map((file) => readFileSync(file, "utf8"));
    const make = ["token", "make", "--data-dir", dataDir];
    expect(await wfvarCp(...make)).toEqual({
      status: 0,
      stdout: files.map((file) => `${file} made just now\n`).join(""),
      stderr: "",
    });
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
    const made = contents();
    expect((await wfvarCp(...make)).stdout).toBe(
      files.map((file) => `${file} was there already\n`).join(""),
    );
    const cp = await serveControlPlane(dataDir);
    expect(await deliver(cp, "one", await stamp(cp, "one"))).toBe(201);
    expect(contents()).toEqual(made);
  });

  it("replaces the operator token under a running control plane", async () => {
    const dataDir = tempFolder();
    const cp = await serveControlPlane(dataDir);
    const { status, stdout } = await wfvarCp(
      "token",
      "rotate-operator-token",
      "--data-dir",
      dataDir,
    );
    const token = readFileSync(join(dataDir, "operator-token"), "utf8").trim();
    expect([status, stdout.includes(token)]).toEqual([0, false]);
    expect((await cp.call("GET", "/v1/runs")).status).toBe(401);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${cp.operatorUrl}/v1/runs`, { headers })).status).toBe(200);
  });

  it("leaves the keys in use while their file is damaged", async () => {
    const dataDir = tempFolder();
    const cp = await serveControlPlane(dataDir);
    const token = await stamp(cp, "one");
    writeFileSync(join(dataDir, "step-key.json"), "{");
    expect(await deliver(cp, "one", token)).toBe(201);
    expect(await wfvarCp("token", "show", "--data-dir", dataDir)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/the step key file is damaged; restore it, or remove it/),
    });
  });

  it.each([[[]], [["shwo"]], [["show", "more"]]])("asks for one action: %j", async (words) => {
    expect(await wfvarCp("token", ...words)).toMatchObject({
      status: 2,
      stderr:
        "wfvar-cp: say one of: token make, token show, token rotate-step-key, token rotate-operator-token\n",
    });
  });
});

describe("wfvar-cp backup", () => {
  it("copies a database in use, from which a control plane goes on", async () => {
    const dataDir = tempFolder();
    const cp = await serveControlPlane(dataDir);
    const restored = tempFolder();
    const copy = join(restored, "wfvar.db");
    // What is delivered before the backup is in it; deliveries go on meanwhile.
    expect(await deliver(cp, "kept", await stamp(cp, "kept"))).toBe(201);
    const stop = new AbortController();
    const traffic = (async () => {
      for (let i = 0; !stop.signal.aborted; i += 1) {
        const run = `more-${String(i)}`;
        await deliver(cp, run, await stamp(cp, run));
      }
    })();
    const { status, stdout } = await wfvarCp("backup", copy, "--data-dir", dataDir);
    stop.abort();
    await traffic;
    expect([status, stdout]).toEqual([0, `${copy}\n`]);
    expect([existsSync(`${copy}.part`), statSync(copy).mode & 0o777]).toEqual([false, 0o600]);
    const database = new DatabaseSync(copy, { readOnly: true });
    const check = database.prepare("PRAGMA integrity_check").get();
    database.close();
    expect(check?.["integrity_check"]).toBe("ok");
    const other = await serveControlPlane(restored);
    const read = await other.call("GET", "/v1/runs/kept/variables/judge.v");
    expect(await read.text()).toBe("kept");
  });

  it.each<{ name: string; argv: (dir: string) => string[]; says: RegExp }>([
    { name: "no file", argv: () => [], says: /name one file: wfvar-cp backup FILE/ },
    {
      name: "a file that exists",
      argv: (dir) => [join(dir, "there")],
      says: /there exists; name a new file/,
    },
    {
      name: "no database",
      argv: (dir) => [join(dir, "copy")],
      says: /wfvar\.db cannot be copied to .*: there is no database/,
    },
    {
      name: "PostgreSQL",
      argv: () => ["x", "--database-url", "postgres://h/d"],
      says: /back it up with pg_dump/,
    },
  ])("says in one line that it cannot: $name", async ({ argv, says }) => {
    const dir = tempFolder();
    writeFileSync(join(dir, "there"), "");
    const { status, stderr } = await wfvarCp("backup", ...argv(dir), "--data-dir", dir);
    expect([status, stderr]).toEqual([2, expect.stringMatching(says)]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});

describe("a database that cannot be used", () => {
  it.each<[string, string, RegExp]>([
    [
      "is no PostgreSQL",
      "mysql://h/d",
      /^wfvar-cp: --database-url must be a URL that begins with postgres:/,
    ],
    [
      "does not answer",
      "postgres://u:secret@127.0.0.1:1/d",
      /^wfvar-cp: the database does not answer: .*ECONNREFUSED/,
    ],
  ])("ends serve with one line, for it %s", async (_, url, says) => {
    const { status, stderr } = await wfvarCp(
      "serve",
      "--data-dir",
      tempFolder(),
      "--database-url",
      url,
    );
    expect([status, stderr]).toEqual([2, expect.stringMatching(says)]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).not.toMatch(/secret/);
  });
});

describe("wfvar-cp doctor", () => {
  it("finds nothing wrong before the first start, and makes nothing", () => {
    const dataDir = join(tempFolder(), "new");
    const { status, stdout } = doctor(dataDir);
    expect([status, stdout.match(/serve makes it/g)?.length]).toEqual([0, 4]);
    expect(existsSync(dataDir)).toBe(false);
  });

  it("finds nothing wrong beside a running control plane", async () => {
    const dataDir = tempFolder();
    const { stepUrl, operatorUrl } = await serveControlPlane(dataDir);
    const ports = [
      "--step-listen",
      new URL(stepUrl).host,
      "--operator-listen",
      new URL(operatorUrl).host,
    ];
    const { status, stdout } = await wfvarCp("doctor", "--data-dir", dataDir, ...ports);
    expect([status, stdout.match(/is a control plane's already/g)?.length]).toEqual([0, 2]);
  });

  it.each<{ name: string; spoil: (dir: string) => void; says: RegExp }>([
    {
      name: "a step key that everyone may read",
      spoil: (dir) => chmodSync(join(dir, "step-key.json"), 0o644),
      says: /PROBLEM {2}step keys .*chmod 600/,
    },
    {
      name: "a damaged step key",
      spoil: (dir) => writeFileSync(join(dir, "step-key.json"), "{}"),
      says: /PROBLEM {2}step keys .*damaged/,
    },
    {
      name: "an operator token that is none",
      spoil: (dir) => writeFileSync(join(dir, "operator-token"), "x"),
      says: /PROBLEM {2}operator token .*no token of 16/,
    },
    {
      name: "a database that is none",
      spoil: (dir) => {
        rmSync(join(dir, "wfvar.db-wal"), { force: true });
        writeFileSync(join(dir, "wfvar.db"), "x".repeat(4096));
      },
      says: /PROBLEM {2}database .*not a database/,
    },
  ])("names $name", async ({ spoil, says }) => {
    const dataDir = tempFolder();
    const cp = await serveControlPlane(dataDir);
    await cp.kill();
    spoil(dataDir);
    const { status, stdout } = doctor(dataDir);
    expect([status, stdout]).toEqual([1, expect.stringMatching(says)]);
    expect(stdout.match(/PROBLEM/g)).toHaveLength(1);
  });

  it("says that no database answers, and not its password", () => {
    const url = "postgres://u:secret@127.0.0.1:1/d";
    const { status, stdout } = doctor(tempFolder(), "--database-url", url);
    expect([status, stdout]).toEqual([
      1,
      expect.stringMatching(/PROBLEM {2}database +nothing listens there/),
    ]);
    expect(stdout).not.toMatch(/secret/);
  });
});

function doctor(dataDir: string, ...argv: string[]) {
  const ports = ["--step-listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0"];
  return spawnSync(process.execPath, [main, "doctor", "--data-dir", dataDir, ...ports, ...argv], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
}

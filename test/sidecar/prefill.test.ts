import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pack as createTar, type Header } from "tar-stream";
import { describe, expect, it } from "vitest";
import { hashBody } from "../../contract/hashed-body.ts";
import { podEnv, runSidecar } from "../support/sidecar.ts";
import { servePrefill } from "../support/serve-prefill.ts";
import { makeTree } from "../support/tree.ts";
import { tempFolder } from "../support/temp-folder.ts";

type Entry = Partial<Header> & { readonly name: string; readonly body?: string };

async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const tar = createTar();
  for (const { body = "", ...header } of entries) {
    if (header.type === undefined || header.type === "file")
      tar.entry({ mtime: new Date(0), ...header }, body);
    else tar.entry({ mtime: new Date(0), ...header });
  }
  tar.finalize();
  return Buffer.concat((await hashBody(tar)).chunks);
}

/** The environment of a pod that asks for this prefill. */
async function podFor(body: Buffer, headers: Record<string, string> = {}, root = tempFolder()) {
  const url = await servePrefill(body, headers);
  const stamped = { token: "t", env: { WFVAR_RUN: "r", WFVAR_STEP: "l_2.judge" } };
  return { root, env: podEnv(stamped, root, url) };
}

const mode = (...path: string[]): number => statSync(join(...path)).mode & 0o777;

const good: Entry[] = [
  { name: ".step", body: "{}" },
  { name: "workflow", type: "directory" },
  { name: "workflow/item.uuid", body: "u" },
  { name: "Inspect", type: "directory" },
  { name: "inspect/findings/high", body: "1\n" },
  { name: "empty", type: "directory" },
];

describe("prefill (WV-1)", () => {
  it("lays out what the step may see, its own folder and .self, with their modes", async () => {
    const { root, env } = await podFor(await tarOf(good));
    const { code, log } = await runSidecar("prefill", env);
    expect(code).toBe(0);
    expect(log.at(-1)).toMatchObject({ event: "prefilled", files: 3, bytes: 5 });
    expect(readFileSync(join(root, "inspect/findings/HIGH"), "utf8")).toBe("1\n");
    expect(readFileSync(join(root, "workflow/item.uuid"), "utf8")).toBe("u");
    expect(readFileSync(join(root, ".self"), "utf8")).toBe(join(root, "l_2/judge"));
    expect([mode(root, ".self"), mode(root, ".step"), mode(root, "inspect/findings/HIGH")]).toEqual(
      [0o444, 0o444, 0o444],
    );
    expect([
      mode(root, "inspect"),
      mode(root, "inspect/findings"),
      mode(root, "empty"),
      mode(root, "l_2"),
    ]).toEqual([0o555, 0o555, 0o555, 0o555]);
    expect(mode(root, "l_2/judge")).toBe(0o777);
  });

  it.each([".done=", ".done/", ".done->nowhere"])(
    "takes no volume in which a step has ended: %s",
    async (marker) => {
      const { root, env } = await podFor(await tarOf(good));
      makeTree(root, [marker]);
      const { code, log } = await runSidecar("prefill", env);
      expect(code).toBe(12);
      expect(log.at(-1)).toMatchObject({
        code: "volume_unusable",
        message: "a step has ended in this volume (.done stands): a pod needs a fresh volume",
      });
      expect(readdirSync(root)).toEqual([".done"]);
    },
  );

  it("runs again in the same volume and leaves the own folder's contents alone", async () => {
    const { root, env } = await podFor(await tarOf(good));
    await runSidecar("prefill", env);
    writeFileSync(join(root, "l_2/judge/VERDICT"), "mine");
    expect((await runSidecar("prefill", env)).code).toBe(0);
    expect(readFileSync(join(root, "l_2/judge/VERDICT"), "utf8")).toBe("mine");
    expect(mode(root, "inspect")).toBe(0o555);
  });

  it("removes what an earlier try or run left and this one did not bring, through no link", async () => {
    const outside = tempFolder();
    writeFileSync(join(outside, "KEEP"), "x");
    const { root, env } = await podFor(await tarOf(good));
    makeTree(root, [
      "inspect/OLD=x",
      "inspect/old/deep/V=x",
      "gone/V=x",
      "workflow/forged=x",
      ".context={}",
      ".started=",
      "l_2/other/V=x",
      "l_2/judge/MINE=x",
    ]);
    symlinkSync(outside, join(root, "inspect/LINK"));
    expect((await runSidecar("prefill", env)).code).toBe(0);
    for (const path of [
      "inspect/OLD",
      "inspect/old",
      "inspect/LINK",
      "gone",
      "workflow/forged",
      ".context",
      "l_2/other",
    ]) {
      expect([path, existsSync(join(root, path))]).toEqual([path, false]);
    }
    for (const path of ["inspect/findings/HIGH", ".started", "l_2/judge/MINE"]) {
      expect([path, existsSync(join(root, path))]).toEqual([path, true]);
    }
    expect(existsSync(join(outside, "KEEP"))).toBe(true);
  });

  it("runs again as a user who is not root, over the folders that it closed", () => {
    const root = tempFolder();
    chmodSync(root, 0o777);
    const script = join(import.meta.dirname, "fixtures", "prefill-twice.ts");
    execFileSync(process.execPath, [script, root], { stdio: "inherit" });
    expect(readFileSync(join(root, "inspect/deep/V"), "utf8")).toBe("second");
    expect([mode(root, "inspect"), mode(root, "inspect/deep"), mode(root, ".self")]).toEqual([
      0o555, 0o555, 0o444,
    ]);
    expect(mode(root, "l_1/judge")).toBe(0o777);
    for (const folder of ["inspect/deep", "inspect", "l_1"]) chmodSync(join(root, folder), 0o755);
  });

  it("ends a stalled answer at its own time", async () => {
    const { env } = await podFor(Buffer.from("x"), { "content-length": "9999" });
    const { code, log } = await runSidecar("prefill", { ...env, WFVAR_PREFILL_TIMEOUT: "1s" });
    expect([code, log.at(-1)?.["code"]]).toEqual([11, "not_delivered"]);
  });

  it("never writes through a link that stands in the way", async () => {
    const outside = tempFolder();
    const root = tempFolder();
    mkdirSync(join(root, "inspect"));
    symlinkSync(outside, join(root, "inspect/findings"));
    symlinkSync(join(outside, "step"), join(root, ".step"));
    symlinkSync(outside, join(root, "l_2"));
    const { env } = await podFor(await tarOf(good), {}, root);
    expect((await runSidecar("prefill", env)).code).toBe(0);
    expect(existsSync(join(outside, "HIGH"))).toBe(false);
    expect(existsSync(join(outside, "step"))).toBe(false);
    expect(existsSync(join(outside, "judge"))).toBe(false);
    expect(readFileSync(join(root, "inspect/findings/HIGH"), "utf8")).toBe("1\n");
  });

  it("replaces whatever stands where a file belongs", async () => {
    const { root, env } = await podFor(await tarOf(good));
    makeTree(root, ["inspect/findings/HIGH/deep/V=x", ".step/V=x", "workflow/item.uuid/V=x"]);
    expect((await runSidecar("prefill", env)).code).toBe(0);
    expect(readFileSync(join(root, "inspect/findings/HIGH"), "utf8")).toBe("1\n");
    expect(readFileSync(join(root, ".step"), "utf8")).toBe("{}");
    expect(readFileSync(join(root, "workflow/item.uuid"), "utf8")).toBe("u");
  });

  it.each<{ name: string; entries: Entry[] }>([
    {
      name: "a symlink",
      entries: [{ name: "inspect/L", type: "symlink", linkname: "/etc/passwd" }],
    },
    {
      name: "a hard link",
      entries: [{ name: "inspect/L", type: "link", linkname: "/etc/passwd" }],
    },
    { name: "a FIFO", entries: [{ name: "inspect/P", type: "fifo" }] },
    { name: "a device", entries: [{ name: "inspect/D", type: "character-device" }] },
    { name: "an absolute name", entries: [{ name: "/etc/X", body: "x" }] },
    { name: "a name that climbs", entries: [{ name: "inspect/../../X", body: "x" }] },
    { name: "a name with ./", entries: [{ name: "./inspect/X", body: "x" }] },
    { name: "a dotfile of its own", entries: [{ name: ".self", body: "/etc" }] },
    { name: "a marker", entries: [{ name: ".done", body: "{}" }] },
    { name: "a name that is not ASCII", entries: [{ name: "inspect/é", body: "x" }] },
    {
      name: "two files of one key",
      entries: [
        { name: "inspect/x", body: "1" },
        { name: "Inspect/X", body: "2" },
      ],
    },
    {
      name: "a file that is also a folder",
      entries: [
        { name: "inspect/1", body: "1" },
        { name: "inspect/1/X", body: "2" },
      ],
    },
    {
      name: "a folder that is also a file",
      entries: [
        { name: "inspect/1/X", body: "1" },
        { name: "inspect/1", body: "2" },
      ],
    },
    { name: "a file in the step's own folder", entries: [{ name: "l_2/judge/X", body: "1" }] },
    { name: "more than eight segments", entries: [{ name: "a/b/c/d/e/f/g/h/I", body: "1" }] },
  ])("refuses $name, and writes nothing of it", async ({ entries }) => {
    const { root, env } = await podFor(await tarOf(entries));
    const { code, log } = await runSidecar("prefill", env);
    expect(code).toBe(10);
    expect(log.at(-1)).toMatchObject({ event: "failed", code: "prefill_invalid" });
    expect(existsSync(join(root, "X"))).toBe(false);
    expect(existsSync(join(root, ".done"))).toBe(false);
    expect(existsSync(join(root, ".self"))).toBe(false);
  });

  it("refuses a body that does not match its digest, or has none", async () => {
    const body = await tarOf(good);
    for (const digest of [`sha-256=:${"A".repeat(43)}=:`, "md5=:AA==:", ""]) {
      const { env } = await podFor(body, { "content-digest": digest });
      const { code, log } = await runSidecar("prefill", env);
      expect([code, log.at(-1)?.["code"]]).toEqual([10, "prefill_invalid"]);
    }
  });

  it("refuses a body without its end blocks", async () => {
    const { env } = await podFor((await tarOf(good)).subarray(0, -1024));
    expect((await runSidecar("prefill", env)).log.at(-1)).toMatchObject({
      code: "prefill_invalid",
    });
  });

  it("refuses more bytes than a prefill may have", async () => {
    const entries = Array.from({ length: 33 }, (_, i) => ({
      name: `inspect/X${String(i)}`,
      body: "x".repeat(1024 ** 2),
    }));
    const { env } = await podFor(await tarOf(entries));
    const { code, log } = await runSidecar("prefill", env);
    expect([code, log.at(-1)?.["code"]]).toEqual([10, "prefill_too_large"]);
  });

  it("gives up in time where nobody answers", async () => {
    const { env } = await podFor(Buffer.alloc(0));
    const silent = { ...env, WFVAR_CP_URL: "http://127.0.0.1:1", WFVAR_PREFILL_TIMEOUT: "1s" };
    const { code, log } = await runSidecar("prefill", silent);
    expect([code, log.at(-1)?.["code"]]).toEqual([11, "not_delivered"]);
  });
});

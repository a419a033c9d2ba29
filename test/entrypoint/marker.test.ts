import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { parseMarker } from "../../contract/marker.ts";
import { fileAppears, mainFile, makeStepFolder, readMarker, run, shell, start } from "./harness.ts";

/** A tmpfs of 64 KiB in a user and mount namespace of its own, so that no privilege is needed. */
const withTinyDisk =
  'mount -t tmpfs -o size=64k none "$WORKFLOW_VARIABLES_ROOT" && mkdir -m 0777 "$WORKFLOW_VARIABLES_SELF" && "$@"; code=$?; ' +
  'cp "$WORKFLOW_VARIABLES_ROOT/.done" "$WORKFLOW_VARIABLES_ROOT/../copied"; exit $code';

describe("the marker (WV-6)", () => {
  it("is a plain file of mode 0644, and its reserved room is not left beside it", async () => {
    const step = makeStepFolder();
    await run(step, shell("umask 077"));
    expect(statSync(join(step.root, ".done")).mode & 0o7777).toBe(0o644);
    expect(readdirSync(step.root).toSorted()).toEqual([".done", ".self", ".started", "judge"]);
  });

  it("has 4 KiB set aside while the agent runs, and stands only after it", async () => {
    const step = makeStepFolder();
    const agent = start(step, shell(`touch "${step.own}/READY"; sleep 0.3`));
    await fileAppears(join(step.own, "READY"));
    const names = readdirSync(step.root).filter((name) => name.startsWith(".done"));
    expect(names).toEqual([expect.stringMatching(/^\.done\.\w+$/)]);
    expect(lstatSync(join(step.root, names[0] ?? "")).size).toBe(4096);
    await agent.ended;
    expect(readMarker(step).outcome).toBe("succeeded");
  });

  it.skipIf(!canMount()).each<[string, RegExp, Record<string, string>]>([
    ["", /No space left on device/, {}],
    [
      ", though no room is left for its response",
      /warning: the agent's response could not be saved: /,
      { WFVAR_CAPTURE_RESPONSE: "true" },
    ],
  ])("is not lost on a disk that the agent filled up%s", async (_, said, env) => {
    const step = makeStepFolder();
    const fill = shell(
      `cat /dev/zero > "${step.own}/BIG"; echo x > "${step.own}/MORE"; echo said; exit 5`,
    );
    const inTinyDisk = [
      "-Urm",
      "sh",
      "-c",
      withTinyDisk,
      "sh",
      process.execPath,
      mainFile,
    ] as const;
    const ended = await run(step, fill, { launcher: ["unshare", ...inTinyDisk], env });
    expect(ended.stderr).toMatch(said);
    expect(ended.code).toBe(5);
    expect(parseMarker(readFileSync(join(step.base, "copied")))).toMatchObject({ exit_code: 5 });
  });

  it("replaces one that the agent forged", async () => {
    const step = makeStepFolder();
    await run(step, shell(`echo forged > "${step.root}/.done"; exit 3`));
    expect(readMarker(step).exit_code).toBe(3);
  });

  it.each([
    ["removed", 'rm "$f"'],
    ["swapped for a link", 'rm "$f"; ln -s /etc/passwd "$f"'],
    ["swapped for a folder", 'rm "$f"; mkdir "$f"'],
    ["swapped for another file", 'rm "$f"; echo "{}" > "$f"'],
  ])("survives that its reserved room is %s by the agent", async (_, script) => {
    const step = makeStepFolder();
    const ended = await run(
      step,
      shell(`for f in "${step.root}"/.done.*; do ${script}; done; exit 3`),
    );
    expect(ended.code).toBe(3);
    expect(lstatSync(join(step.root, ".done")).isFile()).toBe(true);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 3 });
  });

  it("that cannot be put in place, because the agent made a folder of its name, ends with 125", async () => {
    const step = makeStepFolder();
    const ended = await run(step, shell(`mkdir "${step.root}/.done"`));
    expect(ended.code).toBe(125);
    expect(ended.stderr).toMatch(/^entrypoint: volume_unusable: [^\n]+EISDIR\n$/);
  });

  it("is never seen half-written (kubernetes/test-infra#8509: read while still empty)", async () => {
    const { root } = makeStepFolder();
    const file = join(import.meta.dirname, "fixtures/marker-writer.ts");
    const writer = spawn(process.execPath, [file, root, "400"], { stdio: "inherit" });
    const exited = once(writer, "exit");
    let seen = 0;
    const bad: string[] = [];
    while (writer.exitCode === null) {
      for (let i = 0; i < 50; i += 1) {
        const bytes = readIfThere(join(root, ".done"));
        if (bytes === undefined) continue;
        seen += 1;
        if (parseMarker(bytes) === undefined) bad.push(bytes.toString("latin1"));
      }
      await setImmediate();
    }
    expect(await exited).toEqual([0, null]);
    expect(bad).toEqual([]);
    expect(seen).toBeGreaterThan(0);
  });
});

describe("a marker that stands at the start (WV-15)", () => {
  it.each<[string, (path: string) => void]>([
    ["file", (path) => writeFileSync(path, "{}")],
    ["link to nothing", (path) => symlinkSync("/nowhere", path)],
    ["folder", (path) => mkdirSync(path)],
  ])("a %s is refused with 125 and left as it is; no agent runs", async (_, make) => {
    const step = makeStepFolder();
    const done = join(step.root, ".done");
    make(done);
    const before = lstatSync(done);
    const ended = await run(step, shell(`touch "${step.own}/RAN"`));
    expect(ended.code).toBe(125);
    expect(ended.stderr).toMatch(/^entrypoint: marker_exists: [^\n]+\n$/);
    expect(lstatSync(done)).toMatchObject({
      ino: before.ino,
      mode: before.mode,
      size: before.size,
    });
    expect(existsSync(join(step.own, "RAN"))).toBe(false);
    expect(readdirSync(step.root).toSorted()).toEqual([".done", ".self", "judge"]);
  });
});

function canMount(): boolean {
  try {
    execFileSync("unshare", ["-Urm", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

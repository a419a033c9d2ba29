import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeReadable } from "../../entrypoint/readable.ts";
import { makeStepFolder, run, shell, type StepFolder } from "./harness.ts";

const modeOf = (path: string): number => statSync(path).mode & 0o7777;

describe("own files for another uid (WV-15)", () => {
  it("opens up what the agent closed: 0600 and 0000 files in 0700 and 0000 folders; adds, never takes", async () => {
    const step = makeStepFolder();
    const script = `cd "${step.own}"; umask 077; mkdir -p a/b c; echo 1 > a/b/X; echo 2 > TOP; echo 3 > c/Y
      chmod 000 a/b/X c/Y c; chmod 750 TOP; echo 4 > a/Z`;
    expect(await run(step, shell(script))).toMatchObject({ code: 0, stderr: "" });
    expect(modeOf(join(step.own, "a"))).toBe(0o755);
    expect(modeOf(join(step.own, "a/b"))).toBe(0o755);
    expect(modeOf(join(step.own, "a/b/X"))).toBe(0o444);
    expect(modeOf(join(step.own, "c"))).toBe(0o555);
    expect(modeOf(join(step.own, "c/Y"))).toBe(0o444);
    expect(modeOf(join(step.own, "a/Z"))).toBe(0o644);
    expect(modeOf(join(step.own, "TOP"))).toBe(0o754);
    expect(modeOf(step.own)).toBe(0o777);
    // Else only root could remove it.
    chmodSync(join(step.own, "c"), 0o755);
  });

  it("touches nothing outside: neither link targets, nor the root's other folders, nor dotfiles", async () => {
    const step = makeStepFolder();
    const secret = join(step.base, "secret");
    mkdirSync(secret, { mode: 0o700 });
    writeFileSync(join(secret, "KEY"), "", { mode: 0o600 });
    const script = `cd "${step.own}"; umask 077
      ln -s "${secret}" folder; ln -s "${secret}/KEY" FILE; mkfifo FIFO; echo x > .hidden; mkdir .d; echo x > .d/X
      mkdir "${step.root}/other"; echo x > "${step.root}/other/X"`;
    expect(await run(step, shell(script))).toMatchObject({ code: 0, stderr: "" });
    expect(modeOf(secret)).toBe(0o700);
    expect(modeOf(join(secret, "KEY"))).toBe(0o600);
    expect(modeOf(join(step.own, "FIFO"))).toBe(0o600);
    expect(modeOf(join(step.own, ".hidden"))).toBe(0o600);
    expect(modeOf(join(step.own, ".d/X"))).toBe(0o600);
    expect(modeOf(join(step.root, "other/X"))).toBe(0o600);
  });

  it("an own folder that the agent swapped for a link opens up nothing", async () => {
    const step = makeStepFolder();
    const secret = join(step.base, "secret");
    mkdirSync(secret, { mode: 0o700 });
    writeFileSync(join(secret, "KEY"), "", { mode: 0o600 });
    const ended = await run(step, shell(`rmdir "${step.own}"; ln -s "${secret}" "${step.own}"`));
    expect(ended.code).toBe(0);
    expect(modeOf(secret)).toBe(0o700);
    expect(modeOf(join(secret, "KEY"))).toBe(0o600);
  });

  it("a link swapped in while it walks opens up nothing, however often it is tried", () => {
    const step = makeStepFolder();
    const secret = join(step.base, "secret");
    mkdirSync(secret, { mode: 0o700 });
    writeFileSync(join(secret, "KEY"), "", { mode: 0o600 });
    const rootFd = openRootFd(step);
    const swapped = join(step.own, "swapped");
    symlinkSync(secret, swapped);
    const real = join(step.own, "real");
    mkdirSync(real, { mode: 0o700 });
    const swapper = spawnSwapper(swapped, real);
    onTestFinished(() => void swapper.kill("SIGKILL"));
    const until = performance.now() + 1500;
    let walks = 0;
    while (performance.now() < until) {
      makeReadable(rootFd, ["judge"], 100);
      walks += 1;
    }
    expect(walks).toBeGreaterThan(100);
    expect(modeOf(secret)).toBe(0o700);
    expect(modeOf(join(secret, "KEY"))).toBe(0o600);
  });

  it("stops at max_step_entries, counted over all folders and all types, as the pack will", () => {
    const step = makeStepFolder();
    mkdirSync(join(step.own, "a"));
    for (let i = 0; i < 5; i += 1) {
      writeFileSync(join(step.own, `a/X${String(i)}`), "", { mode: 0o600 });
      symlinkSync("nowhere", join(step.own, `a/.link${String(i)}`));
    }
    const rootFd = openRootFd(step);
    expect(makeReadable(rootFd, ["judge"], 8)).toEqual({ failed: 0, truncated: true });
    expect(closedIn(join(step.own, "a"))).toBeGreaterThan(0);
    expect(makeReadable(rootFd, ["judge"], 11)).toEqual({ failed: 0, truncated: false });
    expect(closedIn(join(step.own, "a"))).toBe(0);
  });

  it("takes the bound from `.step`, as it was before the agent", async () => {
    const step = makeStepFolder();
    writeFileSync(join(step.root, ".step"), '{"version":1,"limits":{"max_step_entries":2}}');
    const script = `cd "${step.own}"; touch A B C; rm "${step.root}/.step"`;
    const ended = await run(step, shell(script));
    expect(ended.stderr).toBe("entrypoint: warning: the own folder has more than 2 entries\n");
  });

  it("goes as deep as keys go, and no deeper", () => {
    const step = makeStepFolder();
    // The own folder is the first segment: seven folders and a leaf make eight.
    let folder = step.own;
    const files = Array.from({ length: 8 }, (_, i) => {
      if (i > 0) mkdirSync((folder = join(folder, "d")), { mode: 0o755 });
      const file = join(folder, "X");
      writeFileSync(file, "", { mode: 0o600 });
      return file;
    });
    makeReadable(openRootFd(step), ["judge"], 100);
    expect(files.map((file) => modeOf(file))).toEqual([...Array<number>(7).fill(0o644), 0o600]);
  });

  it("opens up names that are no UTF-8", () => {
    const step = makeStepFolder();
    const path = Buffer.concat([Buffer.from(`${step.own}/`), Buffer.from([0xff, 0x41, 0x80])]);
    writeFileSync(path, "", { mode: 0o600 });
    expect(makeReadable(openRootFd(step), ["judge"], 10)).toEqual({ failed: 0, truncated: false });
    expect(statSync(path).mode & 0o777).toBe(0o644);
  });

  it("survives that the own folder is gone", () => {
    const step = makeStepFolder();
    renameSync(step.own, join(step.root, "gone"));
    expect(makeReadable(openRootFd(step), ["judge"], 10)).toEqual({ failed: 1, truncated: false });
  });
});

function openRootFd(step: StepFolder): number {
  const fd = openSync(step.root, "r");
  onTestFinished(() => closeSync(fd));
  return fd;
}

function closedIn(folder: string): number {
  chmodSync(folder, 0o755);
  const files = readdirSync(folder).filter((name) => !name.startsWith("."));
  return files.filter((name) => modeOf(join(folder, name)) === 0o600).length;
}

/** Exchanges the two names without a pause, in another process. */
function spawnSwapper(one: string, other: string): ChildProcess {
  const script = `const { renameSync } = require("node:fs");
    const [one, other] = process.argv.slice(1);
    for (;;) { renameSync(one, one + "_"); renameSync(other, one); renameSync(one, other); renameSync(one + "_", one); }`;
  return spawn(process.execPath, ["-e", script, one, other], { stdio: "inherit" });
}

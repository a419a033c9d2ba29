import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseStepPath } from "../../contract/ids.ts";
import { defaultLimits } from "../../contract/limits.ts";
import { collect, type Collected } from "../../sidecar/collect.ts";
import { openRoot, withFd } from "../../sidecar/descriptor.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { makeTree } from "../support/tree.ts";

function collectFrom(root: string): Collected {
  const step = parseStepPath("judge");
  if (step === undefined) throw new Error("unreachable");
  return withFd(openRoot(root), (fd) => collect(fd, step, "marker", defaultLimits));
}

function python(script: string, cwd: string): void {
  execFileSync("python3", ["-c", script], { cwd, stdio: ["ignore", "inherit", "inherit"] });
}

const entriesExceeded = [
  { code: "step_entries_exceeded", path: ".", limit: defaultLimits.max_step_entries },
];

describe("folders made to exhaust the walk (WV-5, WV-11)", () => {
  it.each([
    [
      "a million files in a thousand folders",
      "import os\nfor d in range(1000):\n p=f'judge/d{d}'; os.makedirs(p)\n for f in range(1000): os.close(os.open(f'{p}/f{f}', os.O_CREAT))",
    ],
    [
      "200,000 entries in one folder",
      "import os\nos.makedirs('judge')\nfor f in range(200000): os.close(os.open(f'judge/f{f}', os.O_CREAT))",
    ],
  ])("%s stop it at the entry limit, in little time and memory", (_, script) => {
    const root = tempFolder();
    python(script, root);
    const before = process.memoryUsage().rss;
    const start = performance.now();
    expect(collectFrom(root).rejected).toEqual(entriesExceeded);
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 ** 2);
  });

  it("10,000 levels are not gone down", () => {
    const root = tempFolder();
    python(
      "import os\nos.makedirs('judge'); os.chdir('judge')\nfor _ in range(10000): os.mkdir('d'); os.chdir('d')",
      root,
    );
    const { values, rejected } = collectFrom(root);
    expect(values).toEqual([]);
    expect(rejected).toEqual([{ code: "invalid_output_key", path: "d/d/d/d/d/d/d" }]);
    python(
      "import os\nos.chdir('judge')\nimport shutil, sys\nsys.setrecursionlimit(50000)\nwhile os.path.isdir('d/d'):\n os.rename('d/d', 'e'); os.rmdir('d'); os.rename('e', 'd')",
      root,
    );
  });

  it("a file under a write lease is unreadable and does not block", async () => {
    const root = tempFolder();
    makeTree(root, ["judge/LEASED=x", "judge/OPEN=y"]);
    const hold =
      "import fcntl,os,signal,sys,time\nsignal.signal(signal.SIGIO, signal.SIG_IGN)\nf=os.open('judge/LEASED', os.O_RDWR)\nfcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK)\nprint('held', flush=True)\ntime.sleep(60)";
    const holder = spawn("python3", ["-c", hold], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void holder.kill("SIGKILL"));
    await once(holder.stdout, "data");
    const start = performance.now();
    const { values, rejected } = collectFrom(root);
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(values.map(({ key }) => key)).toEqual(["judge.open"]);
    expect(rejected).toEqual([{ code: "unreadable", path: "LEASED", key: "judge.leased" }]);
  });

  it("two hard links of one file are two values", () => {
    const root = tempFolder();
    makeTree(root, ["judge/A=same"]);
    linkSync(join(root, "judge/A"), join(root, "judge/B"));
    expect(collectFrom(root).values.map(({ key }) => key)).toEqual(["judge.a", "judge.b"]);
  });

  it("names of 255 bytes, with newlines, escapes and invalid UTF-8 are reported escaped", () => {
    const root = tempFolder();
    mkdirSync(join(root, "judge"));
    for (const name of [
      Buffer.alloc(255, 0x61),
      Buffer.from("a\nb"),
      Buffer.from("\x1b[31m"),
      Buffer.from([0xff, 0xfe]),
    ]) {
      writeFileSync(Buffer.concat([Buffer.from(join(root, "judge/")), name]), "x");
    }
    expect(collectFrom(root).rejected.map(({ path }) => path)).toEqual([
      "\\x1b[31m",
      "a\\x0ab",
      "a".repeat(255),
      "\\xff\\xfe",
    ]);
  });

  it("a folder with more spellings than are held open is rejected whole", () => {
    const root = tempFolder();
    for (let i = 0; i < 128; i += 1) {
      const name = Array.from("abcdefg")
        .map((letter, bit) => ((i >> bit) & 1 ? letter.toUpperCase() : letter))
        .join("");
      makeTree(root, [`judge/${name}/V${String(i)}=x`]);
    }
    const { values, rejected } = collectFrom(root);
    expect(values).toEqual([]);
    expect(rejected).toHaveLength(100);
  });
});

describe("inotify that is exhausted (WV-7)", () => {
  it("makes the sidecar look for the marker instead of being told", () => {
    const root = tempFolder();
    makeTree(root, ["judge/"]);
    const script = join(import.meta.dirname, "fixtures", "wait-for-end.ts");
    // A user namespace of its own has a limit of its own.
    const command =
      'echo 0 > /proc/sys/user/max_inotify_instances && (sleep 0.5; touch "$2/.done") & exec "$0" "$1" "$2"';
    const printed = execFileSync(
      "unshare",
      ["-Ur", "sh", "-c", command, process.execPath, script, root],
      { encoding: "utf8" },
    );
    expect(JSON.parse(printed)).toEqual({ end: "marker", warnings: ["watch_unavailable"] });
  });
});

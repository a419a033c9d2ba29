import { execFileSync } from "node:child_process";
import { renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  packCodes,
  rejectCodes,
  skipCodes,
  type PackCode,
  type RejectCode,
  type SkipCode,
} from "../../contract/codes.ts";
import { parseStepPath } from "../../contract/ids.ts";
import { defaultLimits, type Limits } from "../../contract/limits.ts";
import { collect } from "../../sidecar/collect.ts";
import { openRoot, withFd } from "../../sidecar/descriptor.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { makeTree } from "../support/tree.ts";

/** Brings about one code in a root with the folder `judge`, and gives the codes that a pack then has. */
type Scenario = (root: string) => readonly string[] | Promise<readonly string[]>;

/** The types see to it that no code is without a scenario. */
const scenarios: Record<RejectCode | PackCode | SkipCode, Scenario> = {
  invalid_output_key: (root) => codesOf(root, ["judge/report.md=x"]),
  value_too_large: (root) => {
    makeTree(root, ["judge/BIG="]);
    truncateSync(join(root, "judge/BIG"), defaultLimits.max_value_bytes + 1);
    return codesOf(root);
  },
  invalid_output_value: (root) => {
    writeFileSync(join(root, "judge/LATIN"), Buffer.from([0xe9]));
    return codesOf(root);
  },
  changed_while_reading: (root) => {
    makeTree(root, ["judge/GONE=x"]);
    return codesOf(root, [], {}, () => rmSync(join(root, "judge/GONE")));
  },
  unreadable: (root) =>
    fromOtherProcess(
      root,
      "chmod 0755 . && echo x > judge/SECRET && chmod 0 judge/SECRET",
      "as-nobody",
    ),
  step_entries_exceeded: (root) =>
    codesOf(root, ["judge/A=1", "judge/B=2"], { max_step_entries: 1 }),
  step_files_exceeded: (root) => codesOf(root, ["judge/A=1", "judge/B=2"], { max_step_files: 1 }),
  step_bytes_exceeded: (root) => codesOf(root, ["judge/A=1", "judge/B=2"], { max_step_bytes: 1 }),
  skipped_symlink: (root) => codesOf(root, ["judge/LINK->/etc/passwd"]),
  skipped_fifo: (root) => codesOf(root, ["judge/PIPE|"]),
  skipped_socket: async (root) => {
    const server = createServer().listen(join(root, "judge/SOCKET"));
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return codesOf(root);
  },
  skipped_device: (root) => fromOtherProcess(root, "mknod judge/NULL c 1 3"),
  skipped_dotfile: (root) => codesOf(root, ["judge/.hidden=x"]),
  skipped_mount: (root) =>
    fromOtherProcess(
      root,
      "mkdir judge/mounted outside && echo x > outside/SECRET && mount --bind outside judge/mounted",
    ),
  stray_at_root: (root) => codesOf(root, ["STRAY=x"]),
  marker_invalid: (root) => codesOf(root, [".done={"]),
  own_folder_missing: (root) => {
    renameSync(join(root, "judge"), join(root, "elsewhere"));
    return codesOf(root);
  },
};

function codesOf(
  root: string,
  tree: readonly string[] = [],
  limits: Partial<Limits> = {},
  onListed: () => void = () => undefined,
): string[] {
  makeTree(root, tree);
  const step = parseStepPath("judge");
  if (step === undefined) throw new Error("unreachable");
  const collected = withFd(openRoot(root), (fd) =>
    collect(fd, step, "marker", { ...defaultLimits, ...limits }, { onListed }),
  );
  return [...collected.rejected, ...collected.skipped].map(({ code }) => code);
}

/** In a mount namespace of its own, after a shell script that may need root's rights. */
function fromOtherProcess(root: string, prepare: string, who = ""): string[] {
  const script = join(import.meta.dirname, "..", "sidecar", "fixtures", "print-collected.ts");
  const command = `${prepare} && exec "$0" "$1" "$PWD" ${who}`;
  const printed = execFileSync("unshare", ["-m", "sh", "-c", command, process.execPath, script], {
    cwd: root,
    encoding: "utf8",
  });
  return (JSON.parse(printed) as { codes: string[] }).codes;
}

const needRoot: ReadonlySet<string> = new Set(["unreadable", "skipped_device", "skipped_mount"]);
const isRoot = process.getuid?.() === 0;

describe("every code of a pack is produced (WV-5, WV-11)", () => {
  it.each([...rejectCodes, ...packCodes, ...skipCodes])("%s", async (code) => {
    if (needRoot.has(code) && !isRoot) return;
    const root = tempFolder();
    makeTree(root, ["judge/"]);
    expect(await scenarios[code](root)).toEqual([code]);
  });
});

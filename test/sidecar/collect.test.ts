import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseStepPath } from "../../contract/ids.ts";
import { defaultLimits, type Limits } from "../../contract/limits.ts";
import { collect, type Collected } from "../../sidecar/collect.ts";
import { openRoot, withFd } from "../../sidecar/descriptor.ts";
import type { WalkHooks } from "../../sidecar/walk/walk.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { makeTree } from "../support/tree.ts";

function collectFrom(
  root: string,
  {
    step = "judge",
    limits = {},
    hooks = {},
  }: { step?: string; limits?: Partial<Limits>; hooks?: WalkHooks } = {},
): Collected {
  const path = parseStepPath(step);
  if (path === undefined) throw new Error("not a step path");
  return withFd(openRoot(root), (fd) =>
    collect(fd, path, "marker", { ...defaultLimits, ...limits }, hooks),
  );
}

/** `key=text` for values, `code path` for issues. */
function summary({ values, rejected, skipped }: Collected): { values: string[]; issues: string[] } {
  return {
    values: values.map(({ key, bytes }) => `${key}=${bytes.toString()}`),
    issues: [...rejected, ...skipped].map(({ code, path }) => `${code} ${path}`),
  };
}

describe("the walk (WV-2, WV-11)", () => {
  it.each<{ name: string; tree: string[]; step?: string; values: string[]; issues?: string[] }>([
    {
      name: "takes files in folders, keys lowercased and sorted",
      tree: ["judge/VERDICT=ok", "judge/findings/High=1"],
      values: ["judge.findings.high=1", "judge.verdict=ok"],
    },
    {
      name: "takes an empty file and an empty folder",
      tree: ["judge/EMPTY=", "judge/folder/"],
      values: ["judge.empty="],
    },
    {
      name: "names a loop step's keys in full",
      tree: ["review-loop_2/judge/V=x"],
      step: "review-loop_2.judge",
      values: ["review-loop_2.judge.v=x"],
    },
    {
      name: "merges folders that fold together",
      tree: ["judge/Findings/A=1", "judge/findings/B=2"],
      values: ["judge.findings.a=1", "judge.findings.b=2"],
    },
    {
      name: "rejects every leaf of a collision",
      tree: ["judge/A=1", "judge/a=2", "judge/B=3"],
      values: ["judge.b=3"],
      issues: ["invalid_output_key A", "invalid_output_key a"],
    },
    {
      name: "rejects a collision across merged folders",
      tree: ["judge/F/A=1", "judge/f/a=2"],
      values: [],
      issues: ["invalid_output_key F/A", "invalid_output_key f/a"],
    },
    {
      name: "lets a leaf stand beside a folder of its name",
      tree: ["judge/HIGH=1", "judge/high/X=2"],
      values: ["judge.high=1", "judge.high.x=2"],
    },
    {
      name: "rejects a leaf without letters beside its folder",
      tree: ["judge/F/1=a", "judge/f/1/X=b"],
      values: ["judge.f.1.x=b"],
      issues: ["invalid_output_key F/1"],
    },
    {
      name: "keeps a leaf without letters beside a fruitless folder",
      tree: ["judge/F/1=a", "judge/f/1/"],
      values: ["judge.f.1=a"],
    },
    {
      name: "rejects names that are no segments",
      tree: ["judge/report.md=x", "judge/a b=x", "judge/-x=x", "judge/é=x", "judge/x\n=x"],
      values: [],
      issues: [
        "invalid_output_key -x",
        "invalid_output_key a b",
        "invalid_output_key report.md",
        "invalid_output_key x\\x0a",
        "invalid_output_key \\xc3\\xa9",
      ],
    },
    {
      name: "does not go below a bad folder",
      tree: ["judge/bad folder/X=1"],
      values: [],
      issues: ["invalid_output_key bad folder"],
    },
    {
      name: "skips dotfiles, links and FIFOs without reading them",
      tree: ["judge/.hidden=x", "judge/LINK->/etc/passwd", "judge/dir->/etc", "judge/PIPE|"],
      values: [],
      issues: [
        "skipped_dotfile .hidden",
        "skipped_symlink LINK",
        "skipped_fifo PIPE",
        "skipped_symlink dir",
      ],
    },
    {
      name: "takes a leaf at the eighth segment and nothing deeper",
      tree: ["judge/b/c/d/e/f/g/H=8", "judge/b/c/d/e/f/g/h/I=9"],
      values: ["judge.b.c.d.e.f.g.h=8"],
      issues: ["invalid_output_key b/c/d/e/f/g/h"],
    },
    {
      name: "reports what the agent put beside its folder",
      tree: ["judge/A=1", "STRAY=x", "inspect/B=2"],
      values: ["judge.a=1"],
      issues: ["stray_at_root STRAY"],
    },
    {
      name: "reports strays beside a loop step's folder",
      tree: ["l_1/judge/A=1", "l_1/STRAY=x"],
      step: "l_1.judge",
      values: ["l_1.judge.a=1"],
      issues: ["stray_at_root l_1/STRAY"],
    },
    {
      name: "says that the own folder is missing",
      tree: ["inspect/A=1"],
      values: [],
      issues: ["own_folder_missing ."],
    },
    {
      name: "does not take a file for the own folder",
      tree: ["judge=x"],
      values: [],
      issues: ["own_folder_missing .", "stray_at_root judge"],
    },
    {
      name: "does not follow a link in the own folder's place",
      tree: ["other/A=1", "judge->other"],
      values: [],
      issues: ["own_folder_missing .", "stray_at_root judge"],
    },
    {
      name: "does not follow a link in the loop folder's place",
      tree: ["other/judge/A=1", "l_1->other"],
      step: "l_1.judge",
      values: [],
      issues: ["own_folder_missing .", "stray_at_root l_1"],
    },
  ])("$name", ({ tree, step = "judge", values, issues = [] }) => {
    const root = tempFolder();
    makeTree(root, tree);
    const got = summary(collectFrom(root, { step }));
    expect(got.values).toEqual(values);
    expect(got.issues.toSorted()).toEqual(issues.toSorted());
  });

  it("keeps exact bytes and rejects what is not UTF-8 (WV-4)", () => {
    const root = tempFolder();
    const exact = Buffer.from("no newline\r\n\0\u{1f600}");
    makeTree(root, ["judge/"]);
    writeFileSync(join(root, "judge/EXACT"), exact);
    writeFileSync(join(root, "judge/LATIN"), Buffer.from([0xe9]));
    const { values, rejected } = collectFrom(root);
    expect(values).toEqual([{ key: "judge.exact", bytes: exact }]);
    expect(rejected).toEqual([
      { code: "invalid_output_value", path: "LATIN", key: "judge.latin", size: 1 },
    ]);
  });

  it("reports files and folders that its user may not read", () => {
    const root = tempFolder();
    makeTree(root, ["judge/SECRET=x", "judge/OPEN=x", "judge/closed/X=1"]);
    chmodSync(join(root, "judge/SECRET"), 0);
    chmodSync(join(root, "judge/closed"), 0);
    chmodSync(root, 0o755);
    const script = join(import.meta.dirname, "fixtures", "print-collected.ts");
    const printed = execFileSync(process.execPath, [script, root, "as-nobody"], {
      encoding: "utf8",
    });
    expect(JSON.parse(printed)).toMatchObject({
      keys: ["judge.open"],
      rejected: [
        { code: "unreadable", path: "SECRET", key: "judge.secret" },
        { code: "unreadable", path: "closed" },
      ],
    });
    chmodSync(join(root, "judge/closed"), 0o755);
  });
});

describe("an agent that closes its folders to the sidecar", () => {
  it.each([
    ["judge", ["unreadable", "stray_at_root"]],
    [".", ["unreadable", "marker_invalid"]],
  ])("still leaves a pack that says so: %s", (closed, codes) => {
    const root = tempFolder();
    makeTree(root, ["judge/A=1", "STRAY=x"]);
    chmodSync(root, 0o755);
    const script = join(import.meta.dirname, "fixtures", "print-collected.ts");
    const argv = [script, root, "as-nobody", join(root, closed)];
    const printed: unknown = JSON.parse(execFileSync(process.execPath, argv, { encoding: "utf8" }));
    chmodSync(join(root, closed), 0o755);
    expect(printed).toMatchObject({ keys: [], codes });
  });
});

describe("limits (WV-5)", () => {
  it("rejects one value over its limit with key, size and limit", () => {
    const root = tempFolder();
    makeTree(root, ["judge/BIG=12345", "judge/FITS=1234"]);
    const { values, rejected } = collectFrom(root, { limits: { max_value_bytes: 4 } });
    expect(values.map(({ key }) => key)).toEqual(["judge.fits"]);
    expect(rejected).toEqual([
      { code: "value_too_large", path: "BIG", key: "judge.big", size: 5, limit: 4 },
    ]);
  });

  it("does not read a sparse giant", () => {
    const root = tempFolder();
    makeTree(root, ["judge/SPARSE="]);
    truncateSync(join(root, "judge/SPARSE"), 2 ** 40);
    const { rejected } = collectFrom(root);
    expect(rejected).toMatchObject([{ code: "value_too_large", size: 2 ** 40 }]);
  });

  it.each<{ name: string; tree: string[]; limits: Partial<Limits>; code: string; limit: number }>([
    {
      name: "bytes together",
      tree: ["judge/A=123", "judge/B=456"],
      limits: { max_step_bytes: 5 },
      code: "step_bytes_exceeded",
      limit: 5,
    },
    {
      name: "files",
      tree: ["judge/A=1", "judge/B=2", "judge/x/C=3"],
      limits: { max_step_files: 2 },
      code: "step_files_exceeded",
      limit: 2,
    },
    {
      name: "entries before files before bytes",
      tree: ["judge/A=1", "judge/B=2", "judge/C=3"],
      limits: { max_step_entries: 2, max_step_files: 1, max_step_bytes: 1 },
      code: "step_entries_exceeded",
      limit: 2,
    },
    {
      name: "files before bytes",
      tree: ["judge/A=1", "judge/B=2"],
      limits: { max_step_files: 1, max_step_bytes: 1 },
      code: "step_files_exceeded",
      limit: 1,
    },
  ])("accepts nothing past the limit of $name", ({ tree, limits, code, limit }) => {
    const root = tempFolder();
    makeTree(root, [...tree, "judge/BAD NAME=x", "judge/.dot=x"]);
    const { values, rejected } = collectFrom(root, { limits });
    expect(values).toEqual([]);
    expect(rejected).toEqual([{ code, path: ".", limit }]);
  });

  it("counts only accepted values towards the bytes", () => {
    const root = tempFolder();
    makeTree(root, ["judge/A=123", "judge/X=1234", "judge/x=1234", "judge/B=45"]);
    expect(collectFrom(root, { limits: { max_step_bytes: 5 } }).values).toHaveLength(2);
  });

  it("lists the first hundred issues by path and counts the rest", () => {
    const root = tempFolder();
    const names = Array.from({ length: 130 }, (_, i) => `.${String(i).padStart(3, "0")}`);
    makeTree(root, ["judge/bad name=x", ...names.map((name) => `judge/${name}=x`)]);
    const { skipped, rejected, more } = collectFrom(root);
    expect(skipped.map(({ path }) => path)).toEqual(names.slice(0, 100));
    expect(rejected).toHaveLength(1);
    expect(more).toEqual({ skipped_dotfile: 30 });
  });

  it("stops at the entry limit in a folder of many", () => {
    const root = tempFolder();
    makeTree(root, ["judge/"]);
    for (let i = 0; i < 20_000; i += 1) mkdirSync(join(root, "judge", `d${String(i)}`));
    expect(collectFrom(root).rejected).toEqual([
      { code: "step_entries_exceeded", path: ".", limit: defaultLimits.max_step_entries },
    ]);
  });
});

describe("attacks between listing and opening (WV-11, WV-16)", () => {
  const canary = "canary from outside";

  function attacked(strike: (own: string, outside: string) => void): Collected {
    const root = tempFolder();
    const outside = tempFolder();
    makeTree(outside, [`VERDICT=${canary}`, `deep/VERDICT=${canary}`]);
    makeTree(root, ["judge/findings/VERDICT=mine", "judge/VERDICT=mine"]);
    const hooks = {
      onListed: (segments: readonly string[]) => {
        if (segments.length === 1) strike(join(root, "judge"), outside);
      },
    };
    const collected = collectFrom(root, { hooks });
    expect(JSON.stringify(collected.values.map(({ bytes }) => bytes.toString()))).not.toContain(
      canary,
    );
    return collected;
  }

  it("does not follow a link swapped in for a folder", () => {
    const got = attacked((own, outside) => {
      renameSync(join(own, "findings"), join(own, "..", "aside"));
      symlinkSync(outside, join(own, "findings"));
    });
    expect(summary(got).values).toEqual(["judge.verdict=mine"]);
    expect(
      got.rejected.concat(got.skipped.map((skip) => ({ ...skip, code: "unreadable" as const }))),
    ).toHaveLength(1);
  });

  it("does not follow a link swapped in for a file", () => {
    const got = attacked((own, outside) => {
      renameSync(join(own, "VERDICT"), join(own, ".aside"));
      symlinkSync(join(outside, "VERDICT"), join(own, "VERDICT"));
    });
    expect(summary(got)).toEqual({
      values: ["judge.findings.verdict=mine"],
      issues: ["skipped_symlink VERDICT"],
    });
  });

  it("goes on in the folder it opened when the own folder is swapped for a link", () => {
    const got = attacked((own, outside) => {
      renameSync(own, `${own}-aside`);
      symlinkSync(outside, own);
    });
    expect(summary(got).values).toEqual(["judge.findings.verdict=mine", "judge.verdict=mine"]);
  });

  it("does not block on a FIFO swapped in for a file", () => {
    const got = attacked((own) => {
      renameSync(join(own, "VERDICT"), join(own, ".aside"));
      makeTree(own, ["VERDICT|"]);
    });
    expect(summary(got).issues).toEqual(["skipped_fifo VERDICT"]);
  });

  it("reports a file that vanished", () => {
    const got = attacked((own) => renameSync(join(own, "VERDICT"), join(own, ".aside")));
    expect(summary(got).issues).toEqual(["changed_while_reading VERDICT"]);
  });
});

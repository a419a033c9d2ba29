import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { helperCodes } from "../../../contract/codes.ts";
import { defaultLimits, maxPrefillEntries } from "../../../contract/limits.ts";
import { reservedWords } from "../../../contract/reserved-words.ts";
import { version } from "../../../contract/version.ts";
import { exitCodes } from "../../../helper/exit-codes.ts";
import { pythonKit } from "../../support/python-kit.ts";
import { variablesFolder, type VariablesFolder } from "../variables-folder.ts";

const kit = pythonKit();
afterAll(() => {
  kit[Symbol.dispose]();
});

/** What a script prints, as JSON says it. */
function printed(script: string, folder?: VariablesFolder): unknown {
  const { stdout, stderr } = spawnSync(kit.python, ["-SE", "-c", script], {
    cwd: kit.folder,
    env: { ...folder?.env },
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

describe("errors are what a Python programmer would catch (WV-13)", () => {
  it.each([
    ["load('nope')", "KeyError", "not_found", "nope"],
    ["load('a..b')", "ValueError", "invalid_key", null],
    ["load('twice')", "ValueError", "ambiguous_key", "twice"],
    ["load('latin1')", "ValueError", "invalid_value", "latin1"],
    ["load('large')", "ValueError", "value_too_large", "large"],
    ["save('k', 'x' * 65)", "ValueError", "value_too_large", "judge.k"],
    ["save('k', '\\ud800')", "ValueError", "invalid_value", null],
    ["save('k', 1)", "ValueError", "invalid_value", null],
    ["save('k', b'x')", "ValueError", "invalid_value", null],
    ["save('k', None)", "ValueError", "invalid_value", null],
    ["save(1, 'x')", "ValueError", "invalid_key", null],
    ["load(None)", "ValueError", "invalid_key", null],
    ["keys(1)", "ValueError", "invalid_key", null],
    ["save('a.b.c.d.e.f.g.h', '')", "ValueError", "invalid_key", null],
    ["save('workflow.x', '')", "PermissionError", "outside_own_step", "workflow.x"],
    ["save('plan.x', '')", "PermissionError", "outside_own_step", "plan.x"],
    ["load('link')", "OSError", "unsafe_path", "link"],
    ["os.environ.pop('WORKFLOW_VARIABLES_SELF'), keys()", "OSError", "no_variables", null],
  ])("%s raises a %s with the code %s", (call, base, code, key) => {
    using folder = variablesFolder(
      "judge",
      [
        "judge/TWICE=1",
        "judge/twice=2",
        "judge/link -> x",
        `judge/LARGE=${"x".repeat(65)}`,
        "plan/",
      ],
      { max_value_bytes: 64 },
    );
    const script = `
import json, os, pickle
from variables import VariablesError, keys, load, save
open(os.path.join(os.environ["WORKFLOW_VARIABLES_SELF"], "LATIN1"), "wb").write(b"\\xe9")
try:
    ${call}
except ${base} as error:
    again = pickle.loads(pickle.dumps(error))
    same = (again.code, again.key, str(again), type(again)) == (error.code, error.key, str(error), type(error))
    print(json.dumps([isinstance(error, VariablesError), error.code, error.key, same, str(error)]))
`;
    expect(printed(script, folder)).toEqual([
      true,
      code,
      key,
      true,
      expect.stringMatching(/^[^'"]/),
    ]);
  });

  it("tells size and limit", () => {
    using folder = variablesFolder("judge", ["judge/V=12345"], { max_value_bytes: 4 });
    const script = `
import json
from variables import LimitError, load
try:
    load("v")
except LimitError as error:
    print(json.dumps([error.key, error.size, error.limit]))
`;
    expect(printed(script, folder)).toEqual(["v", 5, 4]);
  });

  it("holds no value in the chain that a traceback prints", () => {
    using folder = variablesFolder();
    const script = `
import json, traceback
from variables import load, save
text = ""
open(__import__("os").environ["WORKFLOW_VARIABLES_SELF"] + "/V", "wb").write(b"s3cret\\xe9")
for call in (lambda: load("v"), lambda: save("v", "s3cret\\ud800")):
    try:
        call()
    except ValueError as error:
        text += repr(error) + repr(error.__cause__) + str(error.__suppress_context__)
print(json.dumps("s3cret" in text or "False" in text))
`;
    expect(printed(script, folder)).toBe(false);
  });

  it("loads a default of any kind, and only where the key is absent", () => {
    using folder = variablesFolder("judge", ["judge/V="]);
    const script = `
import json
from variables import load
print(json.dumps([load("nope", default=None), load("nope", 1), load("nope", ""), load("v", default="d")]))
`;
    expect(printed(script, folder)).toEqual([null, 1, "", ""]);
  });
});

describe("the package", () => {
  it("says the same as the contract", () => {
    const script = `
import json
from variables.cli import _EXIT_CODES
from variables.errors import _CLASSES
from variables.limits import MAX_ROOT_ENTRIES, Limits
from variables.step_path import RESERVED_WORDS
from variables.version import version
limits = Limits()
print(json.dumps({
    "version": version, "words": sorted(RESERVED_WORDS), "exitCodes": _EXIT_CODES, "codes": sorted(_CLASSES),
    "limits": {name: getattr(limits, name) for name in Limits.__slots__}, "entries": MAX_ROOT_ENTRIES,
}))
`;
    expect(printed(script)).toEqual({
      version,
      words: [...reservedWords].toSorted(),
      exitCodes,
      codes: helperCodes.toSorted(),
      limits: defaultLimits,
      entries: maxPrefillEntries,
    });
  });

  it("imports no module that makes a start of Python slow", () => {
    using folder = variablesFolder("judge", ["judge/V=1"]);
    const script = `
import sys
from variables import load, save, keys
load("v"), save("v", "2"), keys()
slow = ["re", "json", "typing", "argparse", "pathlib", "enum", "collections", "functools", "contextlib"]
found = [name for name in slow if name in sys.modules]
import json
print(json.dumps(found))
`;
    expect(printed(script, folder)).toEqual([]);
  });

  it("leaves no descriptor open, whatever it refuses", () => {
    using folder = variablesFolder(
      "fix_1/judge",
      ["fix_1/judge/a/b/V=1", "fix_1/judge/l -> a", "plan/X=1"],
      { max_step_entries: 6 },
    );
    const script = `
import json, os
from variables import VariablesError, keys, load, save
def count(): return len(os.listdir("/proc/self/fd"))
before = count()
kept = []
calls = [lambda: load("a.b.v"), lambda: load("a.b.nope"), lambda: load("l.x"), lambda: save("l.x", ""), lambda: save("a.b.v", "2"),
  lambda: save("plan.x", ""), lambda: save("x.y.z.w", ""), lambda: keys(""), lambda: save("c", "1"), lambda: save("d", "1"), lambda: keys()]
for call in calls:
    try:
        call()
    except VariablesError as error:
        kept.append(error)
print(json.dumps([len(kept) > 4, count() - before]))
`;
    expect(printed(script, folder)).toEqual([true, 0]);
  });

  it("gives files and folders their modes whatever the umask is", () => {
    using folder = variablesFolder();
    const script = `
import json, os
from variables import save
os.umask(0o777)
save("a.b", "1")
print(json.dumps(True))
`;
    expect(printed(script, folder)).toBe(true);
    expect(statSync(join(folder.self, "a")).mode & 0o777).toBe(0o755);
    expect(statSync(join(folder.self, "a/B")).mode & 0o777).toBe(0o644);
  });

  it("is typed: py.typed is there, and every parameter and result has its type", () => {
    expect(readdirSync(join(kit.folder, "variables"))).toContain("py.typed");
    const script = `
import ast, json, os
bare = []
for folder, _, names in os.walk("variables"):
    for name in names:
        if not name.endswith(".py"): continue
        tree = ast.parse(open(os.path.join(folder, name), encoding="utf-8").read(), feature_version=(3, 8))
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef): continue
            given = node.args.args + node.args.kwonlyargs
            if node.returns is None or any(a.annotation is None for a in given if a.arg != "self"):
                bare.append(name + ":" + node.name)
print(json.dumps(bare))
`;
    expect(printed(script)).toEqual([]);
  });
});

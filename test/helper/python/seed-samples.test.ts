import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { pythonKit } from "../../support/python-kit.ts";
import { variablesFolder, type VariablesFolder } from "../variables-folder.ts";
import { imageWithout } from "./image.ts";

const kit = pythonKit();
const image = imageWithout(kit);
afterAll(() => {
  image[Symbol.dispose]();
  kit[Symbol.dispose]();
});

/** What agents are shown, word for word; the output of each line is added. */
const pythonSample = `from variables import load, save, keys

value = load("verdict")                    # load from your own folder
save("verdict", "CLEAN")                   # write into your own folder
keys()                                     # list keys under your own folder
keys(prefix="judge.")                      # narrow by prefix (read-only access)
`;

const shellSample = `wfvar get VERDICT                 # print the value, NO trailing newline
wfvar set VERDICT CLEAN           # write into your own folder
wfvar list                        # list your own keys
wfvar path                        # print your own step folder (same as $WORKFLOW_VARIABLES_SELF)
wfvar get judge.findings.high     # read another step's output (visibility permitting)
`;

const tree = [
  "fix/VERDICT=DIRTY",
  "fix/notes/A=1",
  "judge/findings/HIGH=[]",
  "judge/VERDICT=other",
];

function runIn(folder: VariablesFolder, file: string, argv: readonly string[], input: string) {
  return spawnSync(file, argv, {
    env: { ...folder.env, PATH: image.path, PYTHONPATH: kit.folder },
    encoding: "utf8",
    input,
  });
}

describe("the samples that agents are shown run as written (WV-13, WV-14)", () => {
  it("in Python", () => {
    using folder = variablesFolder("fix", tree);
    const asked = `${pythonSample}\nprint(value, keys(), keys(prefix="judge."))\n`;
    const { stdout, stderr } = runIn(folder, kit.python, ["-"], asked);
    expect(stderr).toBe("");
    expect(stdout).toBe("DIRTY ['notes.a', 'verdict'] ['judge.findings.high', 'judge.verdict']\n");
    expect(readFileSync(join(folder.self, "VERDICT"), "utf8")).toBe("CLEAN");
  });

  it("in Python, from a console that prints what each line gives", () => {
    using folder = variablesFolder("fix", tree);
    const { stdout } = runIn(folder, kit.python, ["-iq"], pythonSample);
    expect(stdout).toBe("['notes.a', 'verdict']\n['judge.findings.high', 'judge.verdict']\n");
  });

  it("in the shell, where there is Python and no Node", () => {
    using folder = variablesFolder("fix", tree);
    const { stdout, stderr } = runIn(folder, "/bin/sh", ["-e"], shellSample);
    expect(stdout).toBe(`DIRTYnotes.a\nverdict\n${folder.self}\n[]`);
    expect(stderr).toBe("fix.verdict: 5 bytes\n");
    expect(readFileSync(join(folder.self, "VERDICT"), "utf8")).toBe("CLEAN");
  });

  it("in the shell with `python3 -m variables` for wfvar", () => {
    using folder = variablesFolder("fix", tree);
    const script = `wfvar() { python3 -m variables "$@"; }\n${shellSample}`;
    const { stdout } = runIn(folder, "/bin/sh", ["-e"], script);
    expect(stdout).toBe(`DIRTYnotes.a\nverdict\n${folder.self}\n[]`);
  });

  it("in Python from the folder that an image has, /opt/agent, whatever it is called", () => {
    using folder = variablesFolder("fix", tree);
    const agent = join(folder.root, ".image/opt/agent");
    mkdirSync(dirname(agent), { recursive: true });
    symlinkSync(kit.folder, agent);
    const script = `import sys\nsys.path.insert(0, ${JSON.stringify(agent)})\n${pythonSample}`;
    const { status, stderr } = runIn(folder, kit.python, ["-I", "-"], script);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

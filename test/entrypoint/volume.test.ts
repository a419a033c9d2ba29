import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { version } from "../../contract/version.ts";
import { mainFile, makeStepFolder, readMarker, run, shell, type StepFolder } from "./harness.ts";

const mount = ["-Urm", "mount", "-t", "tmpfs", "none", "/mnt"];
const canMount = spawnSync("unshare", mount).status === 0;

describe("the volume (WV-1, WV-15)", () => {
  it("`.started` stands before the agent, and one that stands already is no hindrance", async () => {
    const step = makeStepFolder();
    const ended = await run(step, shell(`ls -a "${step.root}"`));
    expect(ended.stdout.split("\n")).toContain(".started");
    rmSync(join(step.root, ".done"));
    expect((await run(step, shell("true"))).code).toBe(0);
  });

  it.each<[string, (step: StepFolder) => void]>([
    ["missing", ({ root }) => rmSync(root, { recursive: true })],
    [
      "a file",
      ({ root }) => {
        rmSync(root, { recursive: true });
        writeFileSync(root, "");
      },
    ],
  ])(
    "without a usable root (%s) no agent runs: 125 and one line that names it",
    async (_, spoil) => {
      const step = makeStepFolder();
      spoil(step);
      const ended = await run(step, shell("echo ran"));
      expect(ended).toMatchObject({ code: 125, stdout: "" });
      expect(ended.stderr).toMatch(
        /^entrypoint: no_variables: [^\n]*WORKFLOW_VARIABLES_ROOT[^\n]*\n$/,
      );
    },
  );

  it.skipIf(!canMount)(
    "on a volume that is read-only no agent runs: 125 and one line that says so",
    async () => {
      const step = makeStepFolder();
      const readOnly =
        'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"';
      const inside = ["-Urm", "sh", "-c", readOnly, step.root, process.execPath, mainFile];
      const ended = await run(step, shell("echo ran"), { launcher: ["unshare", ...inside] });
      expect(ended).toMatchObject({ code: 125, stdout: "" });
      expect(ended.stderr).toMatch(/^entrypoint: volume_unusable: [^\n]*EROFS\n$/);
      expect(readdirSync(step.root).toSorted()).toEqual([".self", "judge"]);
    },
  );

  it("an own folder that is closed to writing is the agent's affair: its exit code, and a marker", async () => {
    const step = makeStepFolder();
    chmodSync(step.own, 0o555);
    expect((await run(step, shell("exit 4"))).code).toBe(4);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 4 });
  });

  it.each<[string, (step: StepFolder) => void, string | undefined]>([
    ["is missing", ({ own }) => rmdirSync(own), undefined],
    [
      "is a link",
      ({ base, own }) => {
        rmdirSync(own);
        symlinkSync(base, own);
      },
      undefined,
    ],
    ["lies outside the root", () => undefined, "/tmp"],
    ["is the root's parent", ({ root }) => mkdirSync(join(root, "x")), "/variables/x/../.."],
  ])("an own folder that %s ends with 125 and a marker; no agent runs", async (_, spoil, self) => {
    const step = makeStepFolder();
    spoil(step);
    const env = self === undefined ? {} : { WORKFLOW_VARIABLES_SELF: self };
    const ended = await run(step, shell("echo ran"), { env });
    expect(ended).toMatchObject({ code: 125, stdout: "" });
    expect(ended.stderr).toMatch(/^entrypoint: own_folder_missing: [^\n]+\n$/);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 125 });
  });

  it.each([undefined, ""])(
    "finds its own folder in `.self` where the variable is %j",
    async (self) => {
      const step = makeStepFolder();
      const ended = await run(step, shell("echo ran"), { env: { WORKFLOW_VARIABLES_SELF: self } });
      expect(ended).toMatchObject({ code: 0, stdout: "ran\n" });
    },
  );

  it.each<[string, (path: string) => void]>([
    ["missing", (path) => rmSync(path)],
    [
      "a link",
      (path) => {
        rmSync(path);
        symlinkSync("/etc/hostname", path);
      },
    ],
    ["too long", (path) => rewrite(path, `/variables/${"x".repeat(5000)}`)],
  ])("a `.self` that is %s, and no variable, ends with 125 and a marker", async (_, spoil) => {
    const step = makeStepFolder();
    spoil(join(step.root, ".self"));
    const ended = await run(step, shell("echo ran"), {
      env: { WORKFLOW_VARIABLES_SELF: undefined },
    });
    expect(ended).toMatchObject({ code: 125, stdout: "" });
    expect(ended.stderr).toMatch(/^entrypoint: own_folder_missing: [^\n]+\n$/);
    expect(readMarker(step).exit_code).toBe(125);
  });
});

describe("a call that makes no sense (WV-15)", () => {
  it("is said even where there is no volume for a marker", async () => {
    const ended = await run(makeStepFolder(), [], {
      args: ["--agent-garce", "1s"],
      env: { WORKFLOW_VARIABLES_ROOT: "/nope" },
    });
    expect(ended).toMatchObject({ code: 125, stdout: "" });
    expect(ended.stderr).toMatch(
      /^entrypoint: usage: unknown flag --agent-garce \(did you mean `--agent-grace`\?\)[^\n]+\nentrypoint: no_variables: \/nope [^\n]+: mount the volume there, or set WORKFLOW_VARIABLES_ROOT\n$/,
    );
  });

  it.each<[string, readonly string[], Record<string, string>, RegExp]>([
    ["no command", [], {}, /no command/],
    ["a command without `--`", ["true"], {}, /no command/],
    ["nothing after `--`", ["--"], {}, /no command/],
    ["a word before `--`", ["word", "--", "true"], {}, /before --/],
    ["an unknown flag", ["--nope", "--", "true"], {}, /unknown flag --nope/],
    [
      "a flag without its value",
      ["--agent-grace", "--", "true"],
      {},
      /--agent-grace needs a value/,
    ],
    [
      "two bad settings",
      ["--agent-grace", "soon", "--", "true"],
      { WFVAR_FINALIZE_TIMEOUT: "late" },
      /--agent-grace must be .*WFVAR_FINALIZE_TIMEOUT must be /,
    ],
  ])("%s ends with 125, one line and a marker", async (_, args, env, message) => {
    const step = makeStepFolder();
    const ended = await run(step, [], { args, env });
    expect(ended).toMatchObject({ code: 125, stdout: "" });
    expect(ended.stderr).toMatch(/^entrypoint: usage: [^\n]+\n$/);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).not.toMatch(/soon|late/);
    expect(readMarker(step)).toMatchObject({ outcome: "failed", exit_code: 125 });
  });

  it.each([
    ["--version", `${version}\n`],
    [
      "--help",
      expect.stringMatching(
        /--agent-grace[^]*--finalize-dir[^]*--finalize-timeout[^]*--capture-response[^]*tini/,
      ),
    ],
  ])("%s answers, and touches no folder", async (flag, answer) => {
    const step = makeStepFolder();
    expect(await run(step, [], { args: [flag] })).toMatchObject({ code: 0, stdout: answer });
    expect(existsSync(join(step.root, ".started"))).toBe(false);
  });
});

function rewrite(path: string, text: string): void {
  rmSync(path);
  writeFileSync(path, text);
}

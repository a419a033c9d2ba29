import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { dist } from "../../support/dist.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { stepFlags } from "./run-inject.ts";

const main = join(dist, "sidecar", "main.mjs");
const fixture = (name: string): string => join(import.meta.dirname, "fixtures", name);

function inject(
  flags: readonly string[],
  input = "",
): { stdout: string; stderr: string; status: number | null } {
  return spawnSync(process.execPath, [main, "inject", ...flags], {
    env: {},
    input,
    encoding: "utf8",
  });
}

/** `$0` is Node, `$1` the sidecar. */
function shell(script: string, ...args: readonly string[]): ReturnType<typeof inject> {
  return spawnSync("bash", ["-c", script, process.execPath, main, ...args], {
    encoding: "utf8",
    maxBuffer: 16 * 1024 ** 2,
  });
}

it("writes the manifest to stdout, and nothing to stderr", () => {
  const expected = readFileSync(fixture("pod.out.yaml"), "utf8");
  const run = inject(["-f", fixture("pod.in.yaml"), ...stepFlags]);
  expect(run).toMatchObject({ status: 0, stdout: expected, stderr: "" });
});

/** The pod, and behind it a document of more than any pipe holds. */
function largeManifest(): { readonly file: string; readonly end: string } {
  const end = `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: ${"x".repeat(3 * 1024 ** 2)}}\n`;
  const file = join(tempFolder(), "large.yaml");
  writeFileSync(file, readFileSync(fixture("pod.in.yaml"), "utf8") + end);
  return { file, end };
}

it("passes a manifest of megabytes from stdin to a slow reader whole", () => {
  const { file, end } = largeManifest();
  const run = shell('"$0" "$1" inject -f - < "$2" | { sleep 0.3; cat; }', file);
  expect(run.stdout.endsWith(end)).toBe(true);
});

it("says nothing where its reader has seen enough", () => {
  const script = '"$0" "$1" inject -f "$2" $3 | head -n 1; exit "${PIPESTATUS[0]}"';
  const run = shell(script, largeManifest().file, stepFlags.join(" "));
  expect(run).toMatchObject({ status: 0, stdout: "# One step of a review.\n", stderr: "" });
});

it("exits with 12 where its output cannot be written", () => {
  const run = shell('"$0" "$1" inject --help > /dev/full');
  expect(run).toMatchObject({
    status: 12,
    stderr: "wfvar-sidecar: stdout cannot be written: ENOSPC\n",
  });
});

it("exits with 2, its reasons on stderr and nothing on stdout", () => {
  const run = inject(["-f", fixture("several-containers.in.yaml")]);
  expect(run).toMatchObject({
    status: 2,
    stdout: "",
    stderr:
      "wfvar-sidecar inject: Pod judge: has 3 containers (proxy, agent, metrics): name the agent's with --container\n",
  });
});

it("exits with 2 where no manifest is named", () => {
  const run = inject([]);
  expect(run).toMatchObject({
    status: 2,
    stdout: "",
    stderr:
      "wfvar-sidecar inject: WFVAR_FILE is required: a manifest: -f FILE, or -f - for stdin\n",
  });
});

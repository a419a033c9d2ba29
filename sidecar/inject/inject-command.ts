import { readFile } from "node:fs/promises";
import { escapeText } from "../../contract/escape.ts";
import { describeSettings } from "../../contract/settings.ts";
import { version } from "../../contract/version.ts";
import { isAllowedUrl } from "../../contract/base-url.ts";
import { errnoOf } from "../descriptor.ts";
import { SidecarError } from "../sidecar-error.ts";
import { inject } from "./inject.ts";
import { injectSettings, readInjectSettings, type InjectOptions } from "./inject-settings.ts";
import { readStamp } from "./stamp.ts";

export interface InjectDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The manifest. */
  readonly print: (text: string) => void;
  /** Problems and warnings. */
  readonly printError: (text: string) => void;
  readonly readStdin: () => Promise<string>;
}

/**
 * `wfvar-sidecar inject`: a manifest in, the same with its additions out. Where anything stands against it, says
 * all of that on stderr, prints no manifest and throws `config_invalid`.
 */
export async function injectCommand(argv: readonly string[], deps: InjectDeps): Promise<void> {
  const asked = readInjectSettings(argv, deps.env);
  if (asked.help) return deps.print(injectHelp);
  if (asked.version) return deps.print(`${version}\n`);
  try {
    // Flags first, then the stamp, then the environment.
    const { stamp } = asked.values;
    const stampEnv = stamp === undefined ? {} : readStamp(await readInput(stamp));
    if (stampEnv === undefined) {
      throw new Refusal(["--stamp is not the answer of POST /v1/runs/{run}/steps"]);
    }
    const { values, words, problems } = readInjectSettings(argv, { ...deps.env, ...stampEnv });
    refuse([...problems, ...combinationProblems(values, words)]);
    const manifest = values.file === "-" ? await deps.readStdin() : await readInput(values.file);
    const injected = inject(manifest, values);
    refuse(injected.problems);
    for (const warning of injected.warnings) say(deps, `warning: ${warning}`);
    deps.print(injected.text);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    for (const problem of error.problems) say(deps, problem);
    throw new SidecarError("config_invalid", error.message, { cause: error });
  }
}

class Refusal extends Error {
  override readonly name = "Refusal";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`${String(problems.length)} problems`);
    this.problems = problems;
  }
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Refusal(problems);
}

function say({ printError }: InjectDeps, line: string): void {
  printError(`wfvar-sidecar inject: ${escapeText(line)}\n`);
}

function combinationProblems(options: InjectOptions, words: readonly string[]): string[] {
  const problems: string[] = [];
  if (words.length > 0) problems.push("takes flags only, no other words: the manifest is -f FILE");
  if (options.native && options.plain) problems.push("takes --native or --plain, not both");
  const cpUrl = URL.parse(options.cpUrl ?? "");
  if (cpUrl !== null && !isAllowedUrl(cpUrl, options)) {
    problems.push("WFVAR_CP_URL must be https:// beyond loopback, or give --allow-http");
  }
  return problems;
}

async function readInput(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "") throw error;
    throw new Refusal([`${file} cannot be read: ${errno}`]);
  }
}

const notes = `
  Adds to every Pod, Job and CronJob, and leaves all else as it is:
    - the volume wfvar-variables (memory), at /variables of the agent's container, whose command then starts with
      /opt/agent/bin/tini -- /opt/agent/bin/entrypoint --
    - the init container wfvar-prefill and the sidecar wfvar-sidecar, both with the restricted security profile: after the
      native sidecars that are there, before the init containers behind these. An init container of yours may mount
      wfvar-variables, and then reads what prefill wrote
    - restartPolicy: Never, automountServiceAccountToken: false and backoffLimit: 0 where they are not set;
      terminationGracePeriodSeconds of at least 120 with a native sidecar, 60 with a plain one; its sum is in a comment
  A second run comes to the same. Comments and spelling stay, anchors are written out. A setting that is not given stands
  there empty, for whoever creates the pod to fill in.
  The token never goes into the manifest. Keep it in a Secret that nothing but these two containers mounts:

    jq -r .token stamp.json | kubectl create secret generic build-wfvar-token --from-file=token=/dev/stdin
    wfvar-sidecar inject -f job.yaml --stamp stamp.json --cp-url https://cp:8411 | kubectl apply -f -

  Exit codes: 0 well, 2 anything stands against it; then every reason is on stderr, and nothing on stdout
`;

const injectHelp = `wfvar-sidecar inject: adds what a step needs to a Kubernetes manifest, on stdout

${describeSettings(injectSettings)}
${notes}`;

import { injectCommand } from "../../../sidecar/inject/inject-command.ts";
import { SidecarError } from "../../../sidecar/sidecar-error.ts";

export interface Ran {
  readonly stdout: string;
  /** Lines of stderr, without the command's name. */
  readonly said: readonly string[];
  /** The code that ended it, if one did. */
  readonly code: string | undefined;
}

/** Runs `inject` on a manifest that comes by stdin. */
export async function runInject(
  manifest: string,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Ran> {
  let [stdout, stderr] = ["", ""];
  let code: string | undefined;
  try {
    await injectCommand(["-f", "-", ...flags], {
      env,
      print: (text) => (stdout += text),
      printError: (text) => (stderr += text),
      readStdin: async () => manifest,
    });
  } catch (error) {
    if (!(error instanceof SidecarError)) throw error;
    code = error.code;
  }
  const said = stderr.split("\n").filter(Boolean);
  return { stdout, said: said.map((line) => line.replace(/^wfvar-sidecar inject: /, "")), code };
}

/** So that a release changes no fixture. */
export const imageFlags = ["--image", "example.com/wfvar-sidecar:1"];

/** Every setting that a step's pod needs. */
export const stepFlags = [
  ...imageFlags,
  ..."--cp-url https://cp.example.com:8411 --run review-7 --step judge".split(" "),
  ..."--attempt 1 --deadline 2030-01-31T12:00:00Z".split(" "),
];

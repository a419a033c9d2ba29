import type { IEnvVar } from "kubernetes-models/v1/EnvVar";
import { passedOn, stamped, type InjectOptions } from "./inject-settings.ts";

/**
 * The settings that pass from the desk to the sidecar. One that is to be stamped stands there empty until it
 * is: an empty setting counts as unset, and the sidecar names it and stops.
 */
export function settingsEnv(options: InjectOptions): IEnvVar[] {
  const env: IEnvVar[] = [];
  for (const key of passedOnKeys) {
    const value = options[key] ?? (isStamped(key) ? "" : undefined);
    if (value !== undefined) env.push({ name: passedOn[key].env, value });
  }
  if (options.allowHttp) env.push({ name: "WFVAR_ALLOW_HTTP", value: "true" });
  return env;
}

/** Names of the settings that are left to be stamped. */
export function unstampedNames(options: InjectOptions): string[] {
  return stamped.filter((key) => options[key] === undefined).map((key) => passedOn[key].env);
}

type PassedOn = keyof typeof passedOn;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a literal has no other keys
const passedOnKeys = Object.keys(passedOn) as PassedOn[];

function isStamped(key: PassedOn): boolean {
  return stamped.some((one) => one === key);
}

import { isAllowedUrl } from "../contract/base-url.ts";
import type { StepPath } from "../contract/ids.ts";
import { limitsOf } from "../contract/limit-settings.ts";
import type { Limits } from "../contract/limits.ts";
import { describeSettings, readSettings } from "../contract/settings.ts";
import { sidecarSettings } from "./settings.ts";
import { SidecarError } from "./sidecar-error.ts";

/** Who this pod is and how it reaches the control plane. */
export interface Target {
  readonly cpUrl: URL;
  readonly tokenFile: string;
  readonly run: string;
  readonly step: StepPath;
  readonly attempt: number;
  readonly instance: string;
  readonly caFile: string | undefined;
  readonly proxy: URL | undefined;
  readonly traceparent: string | undefined;
}

export interface Config {
  readonly root: string;
  readonly target: Target;
  readonly limits: Limits;
  /** Milliseconds since the epoch. */
  readonly deadline: number | undefined;
  readonly startDeadlineMs: number | undefined;
  readonly podGraceMs: number;
  readonly deliveryReserveMs: number;
  readonly prefillTimeoutMs: number;
  /** Where `prefill` copies the agent's kit to; undefined where it does not. */
  readonly installKit: string | undefined;
  readonly kitDir: string;
  readonly linger: boolean;
  readonly terminationLog: string;
  readonly logLevel: string;
}

/** Kept of the pod's grace for packing and for leaving: K of the shutdown arithmetic. A shorter reserve delivers nothing. */
export const minReserveMs = 2_000;

export type ParsedConfig =
  | { readonly show: "help" | "version" }
  | { readonly show: undefined; readonly config: Config };

/**
 * Reads flags and environment; throws `config_invalid` naming every problem at once, by name and never by
 * value.
 */
export function parseConfig(argv: readonly string[], env: NodeJS.ProcessEnv): ParsedConfig {
  const {
    values,
    words,
    problems: found,
    help,
    version,
  } = readSettings(sidecarSettings, argv, env);
  if (help) return { show: "help" };
  if (version) return { show: "version" };
  const problems = [...found];
  if (words.length > 0) problems.push("takes flags only, no other words");
  const { cpUrl, allowHttp } = values;
  // Without a valid URL there is a problem already, and no protocol to judge.
  if (problems.length === 0 && !isAllowedUrl(cpUrl, { allowHttp })) {
    problems.push("WFVAR_CP_URL must be https:// beyond loopback, or set WFVAR_ALLOW_HTTP=true");
  }
  if (values.deliveryReserveMs <= minReserveMs) {
    problems.push(
      "WFVAR_DELIVERY_RESERVE must be longer than 2s: packing and leaving take that much",
    );
  }
  if (values.deliveryReserveMs >= values.podGraceMs) {
    problems.push("WFVAR_DELIVERY_RESERVE must be shorter than WFVAR_POD_GRACE");
  }
  if (problems.length > 0) throw new SidecarError("config_invalid", problems.join("; "));
  return {
    show: undefined,
    config: {
      ...values,
      target: values,
      limits: limitsOf(values),
    },
  };
}

/** The settings' part of `--help`, without those that change nothing. */
export function configHelp(unused: readonly string[]): string {
  return describeSettings(
    Object.fromEntries(Object.entries(sidecarSettings).filter(([name]) => !unused.includes(name))),
  );
}

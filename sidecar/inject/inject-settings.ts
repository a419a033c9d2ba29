import {
  readSettings,
  text,
  toggle,
  type ReadSettings,
  type Setting,
  type SettingValues,
} from "../../contract/settings.ts";
import { sidecarSettings } from "../settings.ts";

/**
 * Settings that go into the manifest as they were given: what the sidecar will read there is checked here,
 * at the desk, and passed on in its own spelling.
 */
export const passedOn = {
  cpUrl: asGiven(sidecarSettings.cpUrl),
  run: asGiven(sidecarSettings.run),
  step: asGiven(sidecarSettings.step),
  attempt: asGiven(sidecarSettings.attempt),
  deadline: asGiven(sidecarSettings.deadline),
  maxValueBytes: asGiven(sidecarSettings.maxValueBytes),
  maxStepBytes: asGiven(sidecarSettings.maxStepBytes),
  maxStepFiles: asGiven(sidecarSettings.maxStepFiles),
  maxStepEntries: asGiven(sidecarSettings.maxStepEntries),
} as const;

/** What a pod cannot do without; where it is not given, it stands in the manifest empty. */
export const stamped = ["cpUrl", "run", "step", "attempt", "deadline"] as const;

const kits = ["image", "volume"] as const;

export const injectSettings = {
  file: {
    env: "WFVAR_FILE",
    placeholder: "FILE",
    help: "the manifest; -f FILE is the same, and - reads stdin",
    parse: (value) => (value === "" ? undefined : value),
    expected: "a manifest: -f FILE, or -f - for stdin",
    required: true,
  } satisfies Setting<string>,
  container: text({
    env: "WFVAR_CONTAINER",
    placeholder: "NAME",
    help: "the agent's container, where a pod has several",
  }),
  stamp: text({
    env: "WFVAR_STAMP",
    placeholder: "FILE",
    help: "answer of POST /v1/runs/{run}/steps: run, step, attempt, deadline, limits",
  }),
  ...passedOn,
  allowHttp: sidecarSettings.allowHttp,
  tokenSecret: text({
    env: "WFVAR_TOKEN_SECRET",
    placeholder: "NAME",
    help: "Secret whose key token is the step token (<workload>-wfvar-token)",
  }),
  caConfigMap: text({
    env: "WFVAR_CA_CONFIG_MAP",
    placeholder: "NAME",
    help: "ConfigMap whose key ca.crt is the control plane's issuer (public roots)",
  }),
  image: text({
    env: "WFVAR_IMAGE",
    placeholder: "IMAGE",
    help: "the sidecar's image (wfvar-sidecar:<this version>)",
  }),
  registry: text({
    env: "WFVAR_REGISTRY",
    placeholder: "PREFIX",
    help: "where the default image is: PREFIX/wfvar-sidecar:<this version>",
  }),
  kit: {
    env: "WFVAR_KIT",
    placeholder: "image|volume",
    help: "where the agent has /opt/agent from: its image, or a volume that prefill fills (image)",
    parse: (value) => kits.find((kit) => kit === value),
    expected: "image or volume",
    fallback: "image",
  } satisfies Setting<(typeof kits)[number]>,
  agentUid: {
    env: "WFVAR_AGENT_UID",
    placeholder: "UID",
    help: "the agent's uid, where only its image says it",
    parse: (value) => (/^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined),
    expected: "a uid from 1",
  } satisfies Setting<number>,
  native: toggle({
    env: "WFVAR_NATIVE",
    help: "a native sidecar, from Kubernetes 1.29 on (the default)",
    fallback: false,
  }),
  plain: toggle({
    env: "WFVAR_PLAIN",
    help: "a plain container beside the agent, for older clusters",
    fallback: false,
  }),
} as const;

export type InjectOptions = SettingValues<typeof injectSettings>;

/** `-f` is kubectl's spelling of `--file`. */
export function readInjectSettings(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ReadSettings<typeof injectSettings> {
  const flags = argv.map((word) => (word === "-f" ? "--file" : word));
  return readSettings(injectSettings, flags, env);
}

function asGiven({ env, placeholder, help, parse, expected }: Setting<unknown>): Setting<string> {
  const asText = (value: string): string | undefined =>
    parse(value) === undefined ? undefined : value;
  return { env, placeholder, help, expected, parse: asText };
}

import { parseBaseUrl } from "../contract/base-url.ts";
import { isRunId, parseStepPath, type StepPath } from "../contract/ids.ts";
import { defaultRoot } from "../contract/layout.ts";
import { limitSettings } from "../contract/limit-settings.ts";
import { isInstant } from "../contract/marker.ts";
import { count, durationMs, text, toggle, type Setting } from "../contract/settings.ts";

/** Where the kubelet reads a container's last word. */
export const defaultTerminationLog = "/dev/termination-log";

/**
 * Settings of every subcommand. Limits come from here alone, never from a file that the agent could write
 * (WV-5).
 */
export const sidecarSettings = {
  root: text({
    env: "WORKFLOW_VARIABLES_ROOT",
    placeholder: "DIR",
    help: "the shared volume (/variables)",
    fallback: defaultRoot,
  }),
  cpUrl: {
    env: "WFVAR_CP_URL",
    placeholder: "URL",
    help: "step listener of the control plane",
    parse: parseBaseUrl,
    expected: "an http:// or https:// URL without credentials, query or fragment",
    required: true,
  } satisfies Setting<URL>,
  tokenFile: text({
    env: "WFVAR_TOKEN_FILE",
    placeholder: "FILE",
    help: "the step token, read at each try",
    expected: "the path of the step token",
    required: true,
  }),
  run: {
    env: "WFVAR_RUN",
    placeholder: "ID",
    help: "the run",
    parse: (value) => (isRunId(value) ? value : undefined),
    expected: "a run id",
    required: true,
  } satisfies Setting<string>,
  step: {
    env: "WFVAR_STEP",
    placeholder: "PATH",
    help: "the step path, judge or review-loop_2.judge",
    parse: parseStepPath,
    expected: "a step path such as judge or review-loop_2.judge",
    required: true,
  } satisfies Setting<StepPath>,
  attempt: count({
    env: "WFVAR_ATTEMPT",
    placeholder: "N",
    help: "the step's attempt",
    fallback: 1,
  }),
  instance: {
    env: "WFVAR_INSTANCE",
    placeholder: "UID",
    help: "tells this pod from any other: the pod's uid",
    parse: (value) => (/^[\x21-\x7e]{1,128}$/.test(value) ? value : undefined),
    expected: "1 to 128 printable ASCII characters without blanks",
    required: true,
  } satisfies Setting<string>,
  ...limitSettings,
  deadline: {
    env: "WFVAR_DEADLINE",
    placeholder: "TIME",
    help: "RFC 3339 instant at which the wait ends whatever happened",
    parse: (value) => (isInstant(value) ? Date.parse(value) : undefined),
    expected: "an RFC 3339 instant such as 2030-01-31T12:00:00Z",
  } satisfies Setting<number>,
  startDeadlineMs: durationMs({
    env: "WFVAR_START_DEADLINE",
    placeholder: "TIME",
    help: "give up where no sign of the agent came in this time (off)",
  }),
  podGraceMs: durationMs({
    env: "WFVAR_POD_GRACE",
    placeholder: "TIME",
    help: "the pod's terminationGracePeriodSeconds (30s): what is left after SIGTERM",
    fallback: 30_000,
  }),
  deliveryReserveMs: durationMs({
    env: "WFVAR_DELIVERY_RESERVE",
    placeholder: "TIME",
    help: "part of the grace kept for packing and delivery (10s)",
    fallback: 10_000,
  }),
  prefillTimeoutMs: durationMs({
    env: "WFVAR_PREFILL_TIMEOUT",
    placeholder: "TIME",
    help: "how long prefill tries to reach the control plane (2m)",
    fallback: 120_000,
  }),
  installKit: text({
    env: "WFVAR_INSTALL_KIT",
    placeholder: "DIR",
    help: "copy the agent's kit into this folder first",
  }),
  kitDir: text({
    env: "WFVAR_KIT_DIR",
    placeholder: "DIR",
    help: "where this image has the agent's kit (/opt/agent)",
    fallback: "/opt/agent",
  }),
  linger: toggle({
    env: "WFVAR_LINGER",
    help: "native sidecar: stay after delivery until SIGTERM, or the kubelet starts it again",
    fallback: false,
  }),
  caFile: text({
    env: "WFVAR_CA_FILE",
    placeholder: "FILE",
    help: "PEM roots to trust instead of the public ones",
  }),
  allowHttp: toggle({
    env: "WFVAR_ALLOW_HTTP",
    help: "allow http:// beyond loopback: the token then crosses the network in the clear",
    fallback: false,
  }),
  proxy: {
    env: "WFVAR_PROXY",
    placeholder: "URL",
    help: "HTTP proxy; no other proxy setting is honoured",
    parse: parseBaseUrl,
    expected: "an http:// or https:// URL",
  } satisfies Setting<URL>,
  terminationLog: text({
    env: "WFVAR_TERMINATION_LOG",
    placeholder: "FILE",
    help: "where the last word goes, if the file exists (/dev/termination-log)",
    fallback: defaultTerminationLog,
  }),
  logLevel: {
    env: "WFVAR_LOG_LEVEL",
    placeholder: "LEVEL",
    help: "debug, info, warn or error (info)",
    parse: (value) => (["debug", "info", "warn", "error"].includes(value) ? value : undefined),
    expected: "debug, info, warn or error",
    fallback: "info",
  } satisfies Setting<string>,
  traceparent: {
    env: "TRACEPARENT",
    placeholder: "VALUE",
    help: "W3C trace context, sent along",
    parse: (value) =>
      /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(value) ? value : undefined,
    expected: "a W3C traceparent",
  } satisfies Setting<string>,
} as const;

import { join, resolve } from "node:path";
import { parseBaseUrl } from "../contract/base-url.ts";
import { limitSettings } from "../contract/limit-settings.ts";
import { durationMs, sizeBytes, text, toggle, type Setting } from "../contract/settings.ts";

/** Settings of `wfvar-cp`. */

export interface Listen {
  readonly host: string;
  readonly port: number;
}

function listen(options: {
  env: string;
  help: string;
  fallback: Listen;
}): Setting<Listen> & { readonly fallback: Listen } {
  const expected = "host:port, such as 127.0.0.1:8410 or [::]:8411";
  return { ...options, placeholder: "HOST:PORT", parse: parseListen, expected };
}

function baseUrl<const O extends Omit<Setting<URL>, "placeholder" | "parse" | "expected">>(
  options: O,
): Setting<URL> & O {
  const expected = "an http:// or https:// URL without credentials, query or fragment";
  return { ...options, placeholder: "URL", parse: parseBaseUrl, expected };
}

const dataDir = text({
  env: "WFVAR_DATA_DIR",
  placeholder: "DIR",
  help: "database, keys and step folders (.wfvar)",
  fallback: ".wfvar",
});

/** Where a control plane's secrets are. */
const secretSettings = {
  dataDir,
  operatorTokenFile: text({
    env: "WFVAR_OPERATOR_TOKEN_FILE",
    placeholder: "FILE",
    help: "the operator token (operator-token in the data folder, made on first start)",
  }),
  stepKeyFile: text({
    env: "WFVAR_STEP_KEY_FILE",
    placeholder: "FILE",
    help: "the keys of step tokens (step-key.json in the data folder, made on first start)",
  }),
} as const;

/** And its database. */
export const placeSettings = {
  ...secretSettings,
  databaseUrl: {
    env: "DATABASE_URL",
    placeholder: "URL",
    help: "postgres://… (an SQLite file in the data folder)",
    parse: (value: string) => (/^postgres(ql)?:\/\//.test(value) ? value : undefined),
    expected: "a URL that begins with postgres://",
  } satisfies Setting<string>,
} as const;

/** Of whatever stamps steps and takes packs. */
const serviceSettings = {
  ...limitSettings,
  stepDeadlineMs: durationMs({
    env: "WFVAR_STEP_DEADLINE",
    placeholder: "TIME",
    help: "how long a step may take that names no deadline of its own (1d)",
    fallback: 86_400_000,
  }),
  tokenGraceMs: durationMs({
    env: "WFVAR_TOKEN_GRACE",
    placeholder: "TIME",
    help: "how long past its deadline a step may still deliver (1h)",
    fallback: 3_600_000,
  }),
  packMemoryBytes: sizeBytes({
    env: "WFVAR_PACK_MEMORY",
    placeholder: "SIZE",
    help: "what packs and prefills under way may hold together (256MiB)",
    fallback: 256 * 1024 ** 2,
  }),
} as const;

export const runSettings = { dataDir, ...serviceSettings } as const;

const listenSettings = {
  stepListen: listen({
    env: "WFVAR_STEP_LISTEN",
    help: "where pods call (0.0.0.0:8411)",
    fallback: { host: "0.0.0.0", port: 8411 },
  }),
  operatorListen: listen({
    env: "WFVAR_OPERATOR_LISTEN",
    help: "where operators call (127.0.0.1:8410)",
    fallback: { host: "127.0.0.1", port: 8410 },
  }),
} as const;

export const serveSettings = {
  ...placeSettings,
  ...listenSettings,
  ...serviceSettings,
  keepMs: durationMs({
    env: "WFVAR_KEEP",
    placeholder: "TIME",
    help: "remove runs in which nothing has happened for so long (never)",
  }),
  logLevel: {
    env: "WFVAR_LOG_LEVEL",
    placeholder: "LEVEL",
    help: "debug, info, warn or error (info)",
    parse: (value: string) =>
      ["debug", "info", "warn", "error"].includes(value) ? value : undefined,
    expected: "debug, info, warn or error",
    fallback: "info",
  },
} as const;

export const doctorSettings = { ...placeSettings, ...listenSettings } as const;

export const rotateSettings = {
  ...secretSettings,
  delayMs: durationMs({
    env: "WFVAR_ROTATE_DELAY",
    placeholder: "TIME",
    help: "when a new step key begins to sign: every replica must have it by then (10m)",
    fallback: 600_000,
  }),
} as const;

export interface Places {
  readonly dataDir: string;
  readonly operatorTokenFile?: string | undefined;
  readonly stepKeyFile?: string | undefined;
}

/** The files that these settings name. */
export function placesOf({ dataDir: folder, operatorTokenFile, stepKeyFile }: Places) {
  const absolute = resolve(folder);
  return {
    dataDir: absolute,
    databaseFile: join(absolute, "wfvar.db"),
    operatorTokenFile: resolve(operatorTokenFile ?? join(absolute, "operator-token")),
    stepKeyFile: resolve(stepKeyFile ?? join(absolute, "step-key.json")),
  };
}

/** Of `conformance`, which opens no data folder. */
export const conformanceSettings = {
  fixture: text({
    env: "WFVAR_FIXTURE",
    placeholder: "CMD",
    help: "shell command that stamps a step and prints it as JSON",
  }),
  against: baseUrl({
    env: "WFVAR_AGAINST",
    help: "instead of a fixture: step listener of a control plane with these operator calls",
  }),
  operatorUrl: baseUrl({
    env: "WFVAR_OPERATOR_URL",
    help: "with --against: its operator listener (http://127.0.0.1:8410)",
    fallback: new URL("http://127.0.0.1:8410"),
  }),
  operatorTokenFile: text({
    env: "WFVAR_OPERATOR_TOKEN_FILE",
    placeholder: "FILE",
    help: "with --against: its operator token (.wfvar/operator-token)",
    fallback: ".wfvar/operator-token",
  }),
  allowHttp: toggle({
    env: "WFVAR_ALLOW_HTTP",
    help: "allow http:// beyond loopback: tokens then cross the network in the clear",
    fallback: false,
  }),
  json: toggle({
    env: "WFVAR_JSON",
    help: "one JSON object per line, for machines",
    fallback: false,
  }),
} as const;

/** `127.0.0.1:8410`, `[::1]:8410`; port 0 takes a free one. */
function parseListen(value: string): Listen | undefined {
  const [, bracketed, plain, digits] =
    /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(value) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

import { nearestName, suggest } from "./nearest-name.ts";
import { parseDurationMs, parseSizeBytes } from "./quantity.ts";

/**
 * Settings of every `wfvar` process: a `WFVAR_*` environment variable or the flag of the same name
 * (`WFVAR_CP_URL`, `--cp-url`), flag first. Every problem is reported at once, by name and never by value.
 */

export interface Setting<T> {
  readonly env: string;
  /** What `--help` shows for the value; null for a switch, which takes none on the command line. */
  readonly placeholder: string | null;
  readonly help: string;
  /** Undefined where the text is not such a value. */
  readonly parse: (text: string) => T | undefined;
  /** What the text must be, for the message: "a duration such as 30s". */
  readonly expected: string;
  readonly fallback?: T;
  readonly required?: true;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

export type SettingValues<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T>
    ? S[K] extends { readonly fallback: T } | { readonly required: true }
      ? T
      : T | undefined
    : never;
};

export interface ReadSettings<S extends Settings> {
  /** To be used only where there are no problems. */
  readonly values: SettingValues<S>;
  /** Words that are no flag, and everything after `--`. */
  readonly words: readonly string[];
  readonly help: boolean;
  readonly version: boolean;
  /** One sentence per problem; empty when all is well. */
  readonly problems: readonly string[];
}

type Of<T> = Omit<Setting<T>, "parse" | "expected">;

export function text<const O extends Of<string> & { readonly expected?: string }>(
  options: O,
): Setting<string> & O {
  return {
    expected: "not empty",
    ...options,
    parse: (value) => (value === "" ? undefined : value),
  };
}

export function durationMs<const O extends Of<number>>(options: O): Setting<number> & O {
  return { ...options, parse: parseDurationMs, expected: "a duration such as 30s, 500ms or 2m" };
}

export function sizeBytes<const O extends Of<number>>(options: O): Setting<number> & O {
  return {
    ...options,
    parse: parseLimitBytes,
    expected: "a size such as 1MiB or 64KiB, and not 0",
  };
}

export function count<const O extends Of<number>>(options: O): Setting<number> & O {
  return { ...options, parse: parseCount, expected: "a whole number from 1" };
}

export function toggle<const O extends Omit<Of<boolean>, "placeholder">>(
  options: O,
): Setting<boolean> & O & { readonly placeholder: null } {
  return { ...options, placeholder: null, parse: parseToggle, expected: "true or false" };
}

export function flagOf(env: string): string {
  return `--${env
    .replace(/^WFVAR_/, "")
    .toLowerCase()
    .replaceAll("_", "-")}`;
}

/**
 * Reads flags, then the environment, then fallbacks. An environment variable that is set but empty counts as
 * unset. `others` are flags that take a value and that the caller has taken out: they are only suggested.
 */
export function readSettings<const S extends Settings>(
  settings: S,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  others: readonly string[] = [],
): ReadSettings<S> {
  const problems: string[] = [];
  const { flags, words, help, version } = readFlags(settings, argv, others, problems);
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const fromFlag = flags.get(setting.env);
    const given = fromFlag ?? (env[setting.env] === "" ? undefined : env[setting.env]);
    if (given === undefined) {
      values[name] = setting.fallback;
      if (setting.required) problems.push(`${setting.env} is required: ${setting.expected}`);
      continue;
    }
    const value = setting.parse(given);
    const label = fromFlag === undefined ? setting.env : flagOf(setting.env);
    if (value === undefined) problems.push(`${label} must be ${setting.expected}`);
    values[name] = value;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry per setting was just made
  return { values: values as SettingValues<S>, words, help, version, problems };
}

/** The lines of `--help` for these settings. */
export function describeSettings(settings: Settings): string {
  const lines = Object.values(settings).map(({ env, placeholder, help }) => {
    const flag = flagOf(env) + (placeholder === null ? "" : ` ${placeholder}`);
    const name = env.startsWith("WFVAR_") ? "" : ` [${env}]`;
    return `  ${flag.padEnd(30)} ${help}${name}`;
  });
  const [example = ""] = Object.values(settings)
    .map(({ env }) => env)
    .filter((env) => env.startsWith("WFVAR_"));
  const names = lines.some((line) => line.endsWith("]")) ? ", the one in brackets or" : "";
  return [
    ...lines,
    `  Each of these is also an environment variable${names} as ${flagOf(example)} is ${example}`,
  ].join("\n");
}

/** A limit of nothing would let nothing through. */
function parseLimitBytes(value: string): number | undefined {
  const bytes = parseSizeBytes(value);
  return bytes === 0 ? undefined : bytes;
}

function parseCount(value: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined;
}

function parseToggle(value: string): boolean | undefined {
  return value === "true" ? true : value === "false" ? false : undefined;
}

interface Flags {
  readonly flags: ReadonlyMap<string, string>;
  readonly words: readonly string[];
  readonly help: boolean;
  readonly version: boolean;
}

function readFlags(
  settings: Settings,
  argv: readonly string[],
  others: readonly string[],
  problems: string[],
): Flags {
  const byFlag = new Map(Object.values(settings).map((setting) => [flagOf(setting.env), setting]));
  const flags = new Map<string, string>();
  const words: string[] = [];
  let help = false;
  let version = false;
  for (let i = 0; i < argv.length; i += 1) {
    const word = argv[i] ?? "";
    if (word === "--") {
      words.push(...argv.slice(i + 1));
      break;
    }
    if (word === "-h") {
      help = true;
      continue;
    }
    if (!word.startsWith("--")) {
      words.push(word);
      continue;
    }
    const equals = word.indexOf("=");
    const flag = equals === -1 ? word : word.slice(0, equals);
    const setting = byFlag.get(flag);
    if (flag === "--help") help = true;
    else if (flag === "--version") version = true;
    else if (setting === undefined) {
      const known = [...byFlag.keys(), ...others, "--help", "--version"];
      problems.push(`unknown flag ${flag}${suggest(flag, known)}`);
      // The value of a misspelt flag is no word of its own.
      const meant = nearestName(flag, known) ?? "";
      const takesValue =
        others.includes(meant) || (byFlag.get(meant)?.placeholder ?? null) !== null;
      if (takesValue && equals === -1 && argv[i + 1]?.startsWith("--") === false) i += 1;
    } else if (equals !== -1) flags.set(setting.env, word.slice(equals + 1));
    else if (setting.placeholder === null) flags.set(setting.env, "true");
    else if (i + 1 >= argv.length) problems.push(`${flag} needs a value`);
    else flags.set(setting.env, argv[(i += 1)] ?? "");
  }
  return { flags, words, help, version };
}

import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { compareKeys } from "../contract/key.ts";
import type { Marker } from "../contract/marker.ts";
import { errnoOf } from "./entrypoint-error.ts";
import type { Environment } from "./environment.ts";
import { type HookEnd, runHook } from "./hook.ts";

export interface FinalizeOptions {
  /** The folder of hooks; need not exist. */
  readonly dir: string;
  /** For all hooks together. */
  readonly timeoutMs: number;
  readonly env: Environment;
  /** Aborted by TERM or INT, before or during the phase: at most 5 s are left then. */
  readonly termination: AbortSignal;
  /** Tells a person what went wrong, in one line. */
  readonly warn: (message: string) => void;
}

/** What a pod that is being ended has for hooks. */
const timeoutAfterTerminationMs = 5000;

export const noFinalize: Marker["finalize"] = { status: "none", failed: [] };

/**
 * The finalize phase (WV-15): runs the executables of a folder in name order, links followed, one after the
 * other, the next also where one fails. Gives what the marker says of it; `failed` names the hooks that
 * failed, were cut off, or had no time left to run. Never rejects.
 */
export async function runFinalize(options: FinalizeOptions): Promise<Marker["finalize"]> {
  const { dir, env, warn } = options;
  let hooks: readonly string[];
  try {
    hooks = listHooks(dir, warn);
  } catch (error) {
    warn(`the finalize folder cannot be read: ${errnoOf(error)}`);
    return { status: "failed", failed: [] };
  }
  if (hooks.length === 0) return noFinalize;
  const budget = new Budget(options.timeoutMs, options.termination);
  const failed: string[] = [];
  let status: "succeeded" | "failed" | "timed_out" = "succeeded";
  for (const name of hooks) {
    const end: HookEnd = budget.spent.aborted
      ? { status: "timed_out", reason: "did not run: out of time" }
      : await runHook(join(dir, name), env, budget.spent);
    if (end.status === "succeeded") continue;
    warn(`finalize hook ${name} ${end.reason}`);
    failed.push(name);
    if (status !== "timed_out") status = end.status;
  }
  budget.close();
  return { status, failed };
}

/**
 * Dotfiles are passed over: a mounted ConfigMap keeps its own under such names. Throws where the folder is
 * there but unreadable.
 */
function listHooks(dir: string, warn: FinalizeOptions["warn"]): string[] {
  let names: string[];
  try {
    names = readdirSync(dir);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
  const hooks = names.filter((name) => !name.startsWith(".") && isHook(dir, name, warn));
  // oxlint-disable-next-line unicorn/no-array-sort -- Node 18 has no toSorted, and nobody else holds this array
  return hooks.sort(compareKeys);
}

function isHook(dir: string, name: string, warn: FinalizeOptions["warn"]): boolean {
  const path = join(dir, name);
  try {
    if (!statSync(path).isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    // A file mounted without its x bit is the usual way to lose a hook unnoticed.
    warn(`finalize hook ${name} is passed over: ${errnoOf(error)}`);
    return false;
  }
}

/** One time limit over several hooks, cut short by a termination. */
class Budget {
  readonly #spent = new AbortController();
  readonly #termination: AbortSignal;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(timeoutMs: number, termination: AbortSignal) {
    this.#termination = termination;
    this.#endAfter(timeoutMs);
    if (termination.aborted) this.#cutShort();
    else termination.addEventListener("abort", this.#cutShort);
  }

  get spent(): AbortSignal {
    return this.#spent.signal;
  }

  close(): void {
    this.#termination.removeEventListener("abort", this.#cutShort);
    for (const timer of this.#timers) clearTimeout(timer);
  }

  readonly #cutShort = (): void => this.#endAfter(timeoutAfterTerminationMs);

  #endAfter(ms: number): void {
    this.#timers.push(setTimeout(() => this.#spent.abort(), ms));
  }
}

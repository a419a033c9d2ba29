import type { AgentEnd } from "./agent.ts";

/**
 * What the agent and the hooks find in their environment (WV-15). Paths and exit facts only, never a value.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** What launchers keep from this process, by the name under which they keep it. */
const kept = { WFVAR_NODE_OPTIONS: "NODE_OPTIONS", WFVAR_LD_PRELOAD: "LD_PRELOAD" } as const;

/** The entrypoint's own environment without its settings, and with what the launchers took out of it. */
export function agentEnvironment(own: Environment): Environment {
  const environment = Object.entries(own).filter(([name]) => !name.startsWith("WFVAR_"));
  for (const [name, original] of Object.entries(kept)) {
    const value = own[name];
    if (value !== undefined) environment.push([original, value]);
  }
  return Object.fromEntries(environment);
}

/** The agent's environment and how the agent ended; `WFVAR_EXIT_SIGNAL` is empty where no signal ended it. */
export function hookEnvironment(agent: Environment, end: AgentEnd): Environment {
  return {
    ...agent,
    WFVAR_EXIT_CODE: String(end.exitCode),
    WFVAR_EXIT_SIGNAL: end.signal ?? "",
    WFVAR_OUTCOME: end.outcome,
  };
}

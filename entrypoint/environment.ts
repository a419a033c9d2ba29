import type { AgentEnd } from "./agent.ts";

/**
 * What the agent and the hooks find in their environment (WV-15). Paths and exit facts only, never a value.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the launcher keeps the agent's `NODE_OPTIONS` while this process runs. */
const keptNodeOptions = "WFVAR_NODE_OPTIONS";

/**
 * The entrypoint's own environment without its settings, and with `NODE_OPTIONS` as it was before the
 * launcher.
 */
export function agentEnvironment(own: Environment): Environment {
  const kept = Object.entries(own).filter(([name]) => !name.startsWith("WFVAR_"));
  const environment = Object.fromEntries(kept);
  const nodeOptions = own[keptNodeOptions];
  return nodeOptions === undefined ? environment : { ...environment, NODE_OPTIONS: nodeOptions };
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

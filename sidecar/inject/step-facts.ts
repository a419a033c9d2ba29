import { parseDurationMs } from "../../contract/quantity.ts";
import type { InjectOptions } from "./inject-settings.ts";
import { agentOf } from "./refusals.ts";
import { planShutdown, type ShutdownPlan } from "./shutdown-plan.ts";
import type { Container, Workload } from "./workload.ts";

/** What a workload, and the flags beside it, say about the step. */
export interface StepFacts {
  readonly workload: Workload;
  readonly agent: Container;
  /** Undefined where only the agent's image says it. */
  readonly agentUid: number | undefined;
  readonly sidecarUid: number;
  readonly shutdown: ShutdownPlan;
}

/** The sidecar's uid where the agent's is not known, or is root. */
const fallbackUid = 65_532;
const defaultAgentGraceMs = 10_000;

/** Expects a workload that nothing stands against. */
export function readFacts(workload: Workload, options: InjectOptions): StepFacts {
  const { pod, label } = workload;
  const agent = agentOf(pod, options.container);
  if (typeof agent === "string") throw new TypeError(`${label} was refused: ${agent}`);
  const agentUid =
    agent.securityContext?.runAsUser ?? pod.securityContext?.runAsUser ?? options.agentUid;
  const agentGrace = agent.env?.find(({ name }) => name === "WFVAR_AGENT_GRACE")?.value ?? "";
  const shutdown = planShutdown({
    sidecar: options.plain ? "plain" : "native",
    declaredGraceS: pod.terminationGracePeriodSeconds ?? undefined,
    preStopS: agent.lifecycle?.preStop?.sleep?.seconds ?? 0,
    agentGraceS: Math.ceil((parseDurationMs(agentGrace) ?? defaultAgentGraceMs) / 1000),
  });
  return { workload, agent, agentUid, sidecarUid: agentUid || fallbackUid, shutdown };
}

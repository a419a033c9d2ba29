import type { InjectOptions } from "./inject-settings.ts";
import { unstampedNames } from "./settings-env.ts";
import type { StepFacts } from "./step-facts.ts";

/** What is done as asked, and may not be what was meant. */
export function warningsOf(facts: StepFacts, options: InjectOptions): string[] {
  const { workload, agent, shutdown } = facts;
  const { label, kind, pod } = workload;
  const warnings = uidWarnings(facts);

  const declaredS = pod.terminationGracePeriodSeconds;
  if (typeof declaredS === "number" && declaredS < shutdown.graceS) {
    warnings.push(
      `terminationGracePeriodSeconds is raised from ${String(declaredS)} to ${String(shutdown.graceS)}, for the agent's end and the delivery`,
    );
  }
  const preStop = agent.lifecycle?.preStop;
  if (preStop && !preStop.sleep) {
    warnings.push(
      `the preStop hook of ${agent.name} counts as 0s: add the time that it takes to terminationGracePeriodSeconds`,
    );
  }
  if (pod.automountServiceAccountToken === true) {
    warnings.push(
      "automountServiceAccountToken: true is kept: the agent can speak to the cluster's API",
    );
  }
  const unstamped = unstampedNames(options);
  if (unstamped.length > 0) {
    warnings.push(`${unstamped.join(", ")} left empty: whoever creates the pod must fill them in`);
  }
  if (kind === "CronJob" && options.step !== undefined) {
    warnings.push("an attempt is for one pod: every run after the first will be refused");
  }
  return warnings.map((warning) => `${label}: ${warning}`);
}

function uidWarnings({ agentUid, sidecarUid }: StepFacts): string[] {
  const consequence = `the sidecar runs as ${String(sidecarUid)}, and files of mode 0600 are lost where the agent is killed before its entrypoint opened them`;
  if (agentUid === undefined) {
    return [
      `the agent's uid is only in its image: ${consequence}; set securityContext.runAsUser, or give --agent-uid`,
    ];
  }
  return agentUid === 0
    ? [`the agent runs as root: ${consequence}; give it another securityContext.runAsUser`]
    : [];
}

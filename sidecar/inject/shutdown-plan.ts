/**
 * The pod's grace period and its sum (the contract's appendix C, "time at shutdown"). All times are whole
 * seconds.
 */

/** Hooks of the entrypoint after TERM. */
const hooksS = 5;
/** Permissions and the marker. */
const markerS = 1;
const kubeletLagS = 2;
const packS = 2;
/** The least that a delivery is given. */
const minDeliveryS = 10;
/** Kept by a plain sidecar of the grace: packing, leaving, and the rest for delivery. */
export const plainReserveS = 15;
const defaultGraceS = { native: 120, plain: 60 } as const;

export interface ShutdownPlan {
  readonly graceS: number;
  /** One line for the manifest. */
  readonly sum: string;
}

export interface ShutdownFacts {
  readonly sidecar: "native" | "plain";
  /** What the manifest has now. */
  readonly declaredGraceS: number | undefined;
  readonly preStopS: number;
  readonly agentGraceS: number;
}

/**
 * Keeps a declared grace that is long enough. A native sidecar is told to stop after the agent, a plain one
 * together with it: the first lives on what is left, the second on what it keeps back.
 */
export function planShutdown(facts: ShutdownFacts): ShutdownPlan {
  const { sidecar, declaredGraceS = 0, preStopS, agentGraceS } = facts;
  const agentEndS = preStopS + agentGraceS + hooksS + markerS;
  const untilDeliveryS = agentEndS + kubeletLagS + packS;
  const neededS = sidecar === "native" ? untilDeliveryS + minDeliveryS : agentEndS + plainReserveS;
  const graceS = Math.max(declaredGraceS, neededS, defaultGraceS[sidecar]);
  const agentEnd = `preStop ${s(preStopS)} + agent ${s(agentGraceS)} + hooks ${s(hooksS)} + marker ${s(markerS)}`;
  const sum =
    sidecar === "native"
      ? `${s(graceS)} = ${agentEnd} + kubelet ${s(kubeletLagS)} + pack ${s(packS)} + delivery ${s(graceS - untilDeliveryS)}`
      : `${s(graceS)} >= ${agentEnd} + reserve ${s(plainReserveS)} (pack and delivery) = ${s(neededS)}`;
  return { graceS, sum };
}

function s(seconds: number): string {
  return `${String(seconds)}s`;
}

import { expect, it } from "vitest";
import { planShutdown, type ShutdownFacts } from "../../../sidecar/inject/shutdown-plan.ts";

type Row = readonly [
  sidecar: ShutdownFacts["sidecar"],
  declaredGraceS: number | undefined,
  preStopS: number,
  agentGraceS: number,
  graceS: number,
  sum: string,
];

const rows: readonly Row[] = [
  [
    ...(["native", undefined, 0, 10, 120] as const),
    "120s = preStop 0s + agent 10s + hooks 5s + marker 1s + kubelet 2s + pack 2s + delivery 100s",
  ],
  [
    ...(["native", 30, 20, 300, 340] as const),
    "340s = preStop 20s + agent 300s + hooks 5s + marker 1s + kubelet 2s + pack 2s + delivery 10s",
  ],
  [
    ...(["native", 3600, 0, 10, 3600] as const),
    "3600s = preStop 0s + agent 10s + hooks 5s + marker 1s + kubelet 2s + pack 2s + delivery 3580s",
  ],
  [
    ...(["plain", undefined, 0, 10, 60] as const),
    "60s >= preStop 0s + agent 10s + hooks 5s + marker 1s + reserve 15s (pack and delivery) = 31s",
  ],
  [
    ...(["plain", 60, 0, 60, 81] as const),
    "81s >= preStop 0s + agent 60s + hooks 5s + marker 1s + reserve 15s (pack and delivery) = 81s",
  ],
];

it.each(rows)(
  "a %s sidecar with %s s declared, a preStop of %i s and an agent of %i s gets %i s",
  (sidecar, declaredGraceS, preStopS, agentGraceS, graceS, sum) => {
    const facts = { sidecar, declaredGraceS, preStopS, agentGraceS };
    expect(planShutdown(facts)).toEqual({ graceS, sum });
  },
);

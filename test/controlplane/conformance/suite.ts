import { allChecks } from "../../../controlplane/conformance/all-checks.ts";
import type { Fixture, FreshStep } from "../../../controlplane/conformance/fixture.ts";
import { operatorFixture } from "../../../controlplane/conformance/operator-fixture.ts";
import { runChecks, type CheckResult } from "../../../controlplane/conformance/run-checks.ts";
import { Subject } from "../../../controlplane/conformance/subject.ts";
import { startControlPlane } from "../../support/control-plane.ts";
import { startBrokenProxy, type Fault } from "./broken-proxy.ts";

/** Every step that the suite was given, by the path of its calls. */
export type Steps = ReadonlyMap<string, FreshStep>;

/** Runs the whole suite against the real control plane, with one fault in front of it. */
export async function runSuite(faultOf: (steps: Steps) => Fault): Promise<readonly CheckResult[]> {
  const cp = await startControlPlane();
  const steps = new Map<string, FreshStep>();
  const url = await startBrokenProxy(cp.stepUrl, faultOf(steps));
  const real = operatorFixture({
    stepUrl: new URL(url),
    operatorUrl: new URL(cp.operatorUrl),
    operatorToken: cp.operatorToken,
    allowHttp: false,
  });
  const fixture: Fixture = {
    stamp: async (kind, origin) => {
      const step = await real.stamp(kind, origin);
      if (!("skip" in step)) steps.set(stepKey(step.run, step.step, step.attempt), step);
      return step;
    },
  };
  const { signal } = new AbortController();
  await using subject = new Subject(fixture, signal);
  const results: CheckResult[] = [];
  for await (const result of runChecks(allChecks, subject, signal)) results.push(result);
  return results;
}

export function stepKey(run: string, step: string, attempt: number | string): string {
  return `/v1/runs/${run}/steps/${step}?attempt=${String(attempt)}`.toLowerCase();
}

/** The titles of the checks that failed. */
export function failed(results: readonly CheckResult[]): readonly string[] {
  return results.filter(({ result }) => result === "fail").map(({ title }) => title);
}

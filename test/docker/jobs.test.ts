import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { closeMs } from "../../controlplane/control-plane.ts";
import { planShutdown } from "../../sidecar/inject/shutdown-plan.ts";
import { runInject } from "../sidecar/inject/run-inject.ts";
import { envOf, manifestFolder, podSpecsIn, resourcesIn, type PodSpec } from "./manifests.ts";

const read = (file: string): string => readFileSync(join(manifestFolder, file), "utf8");
/** By hand: `wfvar-sidecar inject -f docker/kubernetes/job.yaml` with these. */
const flags = [
  ..."--cp-url http://wfvar-step.wfvar.svc:8411 --allow-http --run demo-1 --step judge".split(" "),
  ..."--attempt 1 --deadline 2030-01-31T12:00:00Z --registry registry.example.com".split(" "),
];

describe("the example jobs", () => {
  it.each([
    ["job-native.yaml", "--native"],
    ["job-plain.yaml", "--plain"],
  ])("%s is what inject %s makes of job.yaml", async (file, kind) => {
    const { stdout, said } = await runInject(read("job.yaml"), [...flags, kind]);
    expect(said).toEqual([]);
    // vitest -u writes it anew.
    await expect(stdout).toMatchFileSnapshot(join("../..", manifestFolder, file));
  });
});

describe("a shutdown sum", () => {
  const rows = [
    ["job-native.yaml", "native"],
    ["job-plain.yaml", "plain"],
    ["component/pod.yaml", "native"],
    ["argo-workflow.yaml", "native"],
  ] as const;

  it.each(rows)("in %s is the one that a %s sidecar needs", (file, sidecar) => {
    const facts = { sidecar, declaredGraceS: undefined, preStopS: 0, agentGraceS: 10 };
    const { graceS, sum } = planShutdown(facts);
    const [, comment] = /^ *# (\d+s >?= preStop .*)$/m.exec(read(file)) ?? [];
    expect(comment).toBe(sum);
    expect(read(file)).toMatch(
      new RegExp(`^ +- name: WFVAR_POD_GRACE\\n +value: ${String(graceS)}s$`, "m"),
    );
    expect(read(file)).toMatch(
      new RegExp(`terminationGracePeriodSeconds: ${String(graceS)}$`, "m"),
    );
  });

  it.each(rows.slice(0, 2))("in %s adds up", (file) => {
    const [, graceS, , terms = "", total] =
      /# (\d+)s (>?=) (preStop [^=\n]*?)(?: \(pack and delivery\) = (\d+)s)?\n/.exec(read(file)) ??
      [];
    expect(total === undefined ? sumOf(terms) : Number(total)).toBe(
      total === undefined ? Number(graceS) : sumOf(terms),
    );
    expect(sumOf(terms)).toBeLessThanOrEqual(Number(graceS));
    const [pod] = podSpecsIn(resourcesIn(join(manifestFolder, file)));
    expect(pod?.terminationGracePeriodSeconds).toBe(Number(graceS));
  });

  it("of the control plane's pods adds up to their grace, and knows what takes how long", () => {
    const [comment = "", graceS, terms = ""] =
      /# (\d+)s = (preStop .*)/.exec(read("control-plane.yaml")) ?? [];
    expect(sumOf(terms)).toBe(Number(graceS));
    const [pod] = podSpecsIn(resourcesIn(join(manifestFolder, "control-plane.yaml")));
    const [container] = (pod as PodSpec).containers as unknown as [
      { lifecycle: { preStop: { sleep: { seconds: number } } } },
    ];
    expect(pod?.terminationGracePeriodSeconds).toBe(Number(graceS));
    expect(comment).toContain(`preStop ${String(container.lifecycle.preStop.sleep.seconds)}s `);
    expect(comment).toContain(`requests under way ${String(closeMs / 1000)}s `);
  });
});

function sumOf(terms: string): number {
  return [...terms.matchAll(/(\d+)s/g)].reduce((sum, [, seconds]) => sum + Number(seconds), 0);
}

it("Tekton's sidecar ends within the 30 s that Kubernetes gives a pod that asks for nothing", () => {
  const [, graceS, terms = "", total] =
    /# (\d+)s >= (preStop .*) \(pack and delivery\) = (\d+)s\n/.exec(read("tekton-task.yaml")) ??
    [];
  expect([graceS, sumOf(terms)]).toEqual(["30", Number(total)]);
  expect(sumOf(terms)).toBeLessThanOrEqual(30);
  const [pod] = podSpecsIn(resourcesIn(join(manifestFolder, "tekton-task.yaml")));
  const sidecar = pod?.containers.find(({ name }) => name === "wfvar-sidecar");
  const [, reserve] = /reserve (\d+s)/.exec(terms) ?? [];
  expect(sidecar && envOf(sidecar)).toMatchObject({
    WFVAR_POD_GRACE: "30s",
    WFVAR_DELIVERY_RESERVE: reserve,
  });
});

it("a plain sidecar keeps back what the sum says", () => {
  const [pod] = podSpecsIn(resourcesIn(join(manifestFolder, "job-plain.yaml")));
  const sidecar = pod?.containers.find(({ name }) => name === "wfvar-sidecar");
  const [, reserve] = /reserve (\d+s)/.exec(read("job-plain.yaml")) ?? [];
  expect(sidecar && envOf(sidecar)["WFVAR_DELIVERY_RESERVE"]).toBe(reserve);
});

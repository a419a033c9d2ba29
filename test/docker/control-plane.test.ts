import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { serveSettings } from "../../controlplane/config.ts";
import {
  args,
  container,
  deployment,
  env,
  file,
  mounts,
  type Deployment,
} from "./control-plane-container.ts";
import { envOf, specOf, type PodSpec } from "./manifests.ts";
import { serveAsWritten } from "./serve-as-written.ts";

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Service {
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
}
interface Policy {
  readonly ingress: readonly Rule[];
  readonly egress: readonly Rule[];
}
interface Rule {
  readonly from?: unknown;
  readonly to?: unknown;
  readonly ports: readonly { readonly port: number }[];
}

const { labels } = deployment.template.metadata;
const portOf = (name: string) => container.ports?.find((port) => port.name === name)?.containerPort;
const probes = ["startupProbe", "livenessProbe", "readinessProbe"].map((kind) => {
  const { httpGet } = (container as unknown as Record<string, Probe>)[kind] ?? {};
  return { kind, path: httpGet?.path ?? "", port: httpGet?.port ?? "" };
});

describe("the control plane's Deployment", () => {
  it("sets what serve reads, and nothing else", () => {
    const known = new Set(Object.values(serveSettings).map((setting) => setting.env));
    expect(Object.keys(env).filter((name) => !known.has(name))).toEqual([]);
  });

  it("starts, answers every probe where it is asked, and ends well when it is told to", async () => {
    // Without its database, which a test of its own starts.
    const { DATABASE_URL: _, ...others } = env;
    const cp = await serveAsWritten({ args, env: others, mounts });
    const urls: Record<string, string> = { operator: cp.operatorUrl, step: cp.stepUrl };
    for (const { path, port } of probes) {
      expect((await fetch(`${urls[port] ?? ""}${path}`)).status).toBe(200);
    }
    expect((await fetch(`${cp.stepUrl}/healthz`)).status).toBe(404);

    const secret = cp.at(env["WFVAR_OPERATOR_TOKEN_FILE"] ?? "");
    const headers = { authorization: `Bearer ${readFileSync(secret, "utf8").trim()}` };
    expect((await fetch(`${cp.operatorUrl}/v1/runs`, { headers })).status).toBe(200);

    cp.child.kill("SIGTERM");
    expect(await once(cp.child, "exit")).toEqual([0, null]);
  });

  it("names the ports that it listens on", () => {
    expect([env["WFVAR_OPERATOR_LISTEN"], env["WFVAR_STEP_LISTEN"]]).toEqual([
      `0.0.0.0:${String(portOf("operator"))}`,
      `0.0.0.0:${String(portOf("step"))}`,
    ]);
    expect(probes.map(({ port }) => port)).toEqual(["operator", "operator", "operator"]);
  });

  it.each([
    ["wfvar-step", "step"],
    ["wfvar-operator", "operator"],
  ])("is reached through the Service %s on one port alone", (name, port) => {
    const service = specOf(file, "Service", name) as Service;
    expect(service.ports).toEqual([
      expect.objectContaining({ port: portOf(port), targetPort: port }),
    ]);
    expect(labels).toMatchObject(service.selector);
  });

  it("has every selector find its pods", () => {
    expect(labels).toMatchObject(deployment.selector.matchLabels);
    const budget = specOf(file, "PodDisruptionBudget", "wfvar-control-plane") as Deployment;
    expect(labels).toMatchObject(budget.selector.matchLabels);
  });

  it("is called by the example jobs where its Service for steps is", () => {
    for (const job of ["job-native.yaml", "job-plain.yaml"]) {
      const { template } = specOf(job, "Job", "judge") as { template: { spec: PodSpec } };
      const [prefill] = template.spec.initContainers ?? [];
      expect(prefill && envOf(prefill)["WFVAR_CP_URL"]).toBe(
        `http://wfvar-step.wfvar.svc:${String(portOf("step"))}`,
      );
    }
  });
});

describe("the network policies", () => {
  const policyOf = (name: string) => specOf("network-policy.yaml", "NetworkPolicy", name) as Policy;
  const about = (rules: readonly Rule[], namespace: string) =>
    rules.filter((rule) => JSON.stringify(rule.from ?? rule.to ?? []).includes(`"${namespace}"`));
  const portsOf = (rules: readonly Rule[]) =>
    rules.flatMap(({ ports }) => ports.map(({ port }) => port));

  it("let the agents' namespace reach the step listener and nothing else", () => {
    const { ingress } = policyOf("wfvar-control-plane");
    expect(portsOf(about(ingress, "agents"))).toEqual([portOf("step")]);
    expect(portsOf(ingress)).toEqual([portOf("step"), portOf("operator")]);
  });

  it("let agents out to the step listener and to DNS", () => {
    const { ingress, egress } = policyOf("wfvar-agents");
    expect(ingress).toEqual([]);
    expect(portsOf(about(egress, "wfvar"))).toEqual([portOf("step")]);
    expect(JSON.stringify(about(egress, "wfvar"))).toContain(JSON.stringify(labels));
    expect(portsOf(egress)).toEqual([portOf("step"), 53, 53]);
  });
});

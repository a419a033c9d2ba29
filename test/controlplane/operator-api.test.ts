import { describe, expect, it } from "vitest";
import { startControlPlane } from "../support/control-plane.ts";

describe("making a run", () => {
  it("freezes its inputs under workflow., names folded (WV-8)", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun({
      template: "review",
      item: { uuid: "u", title: "t", label: "l", flow_state: "s" },
      artifacts: { Plan: "p" },
      inputs: { "Repo.Path": "." },
    });
    const { json } = await cp.operate("GET", `/v1/runs/${run}/variables`);
    const keys = (json["variables"] as { key: string; set_by: string }[]).map(({ key }) => key);
    expect(keys).toEqual([
      "workflow.artifacts.plan",
      "workflow.inputs.repo.path",
      "workflow.item.flow-state",
      "workflow.item.label",
      "workflow.item.title",
      "workflow.item.uuid",
      "workflow.run-id",
      "workflow.template",
    ]);
  });

  it("is idempotent for a run of one's own name, in whatever order its members come", async () => {
    const cp = await startControlPlane();
    const first = await cp.operate("POST", "/v1/runs", {
      run: "mine",
      template: "t",
      inputs: { a: "1", b: "2" },
    });
    const again = await cp.operate("POST", "/v1/runs", {
      inputs: { b: "2", a: "1" },
      template: "t",
      run: "mine",
    });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.json).toEqual(first.json);
  });

  it.each<{ name: string; body: object; detail: RegExp }>([
    { name: "no template", body: {}, detail: /template/ },
    { name: "an unknown member", body: { template: "t", nope: 1 }, detail: /nope/ },
    {
      name: "a name that is no key",
      body: { template: "t", inputs: { "a b": "1" } },
      detail: /the input `a b`/,
    },
    {
      name: "two names that fold to one",
      body: { template: "t", inputs: { A: "1", a: "2" } },
      detail: /given twice/,
    },
    {
      name: "a value over its limit",
      body: { template: "t", inputs: { a: "x".repeat(31) }, limits: { max_value_bytes: 30 } },
      detail: /the input `a`.*31 bytes; the limit max_value_bytes .*is 30/,
    },
    {
      name: "text that is no Unicode",
      body: { template: "t", inputs: { a: "\ud800" } },
      detail: /Unicode/,
    },
    { name: "a run id that is none", body: { template: "t", run: "../x" }, detail: /run/ },
  ])("refuses $name", async ({ body, detail }) => {
    const cp = await startControlPlane();
    const { status, json } = await cp.operate("POST", "/v1/runs", body);
    expect([status, json["code"]]).toEqual([400, "invalid_request"]);
    expect(json["detail"]).toMatch(detail);
  });
});

describe("stamping a step", () => {
  it("numbers attempts, and gives an attempt that was asked for twice once", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    expect((await cp.stamp(run, { step: "judge" })).attempt).toBe(1);
    expect((await cp.stamp(run, { step: "Judge" })).attempt).toBe(2);
    const third = { step: "judge", attempt: 3, depends_on: ["inspect"] };
    const [first, again] = [
      await cp.operate("POST", `/v1/runs/${run}/steps`, third),
      await cp.operate("POST", `/v1/runs/${run}/steps`, third),
    ];
    expect([first.status, again.status]).toEqual([201, 200]);
  });

  it("ends at the last attempt that there can be", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    await cp.stamp(run, { step: "judge", attempt: 1_000_000 });
    const { status, json } = await cp.operate("POST", `/v1/runs/${run}/steps`, { step: "judge" });
    expect([status, json["detail"]]).toEqual([400, "judge has had 1000000 attempts"]);
    expect((await cp.operate("GET", `/v1/runs/${run}/steps`)).status).toBe(200);
  });

  it("gives the pod's environment without a secret in it", async () => {
    const cp = await startControlPlane();
    const run = await cp.createRun();
    const { env, token } = await cp.stamp(run, { step: "review-loop_2.judge" });
    expect(env).toMatchObject({
      WORKFLOW_VARIABLES_ROOT: "/variables",
      WORKFLOW_VARIABLES_SELF: "/variables/review-loop_2/judge",
      WFVAR_RUN: run,
      WFVAR_STEP: "review-loop_2.judge",
      WFVAR_ATTEMPT: "1",
    });
    expect(JSON.stringify(env)).not.toContain(token);
  });

  it.each(["workflow", "judge_2", "if", "a.b", "Loop_0.x", "../x"])(
    "refuses the step %s",
    async (step) => {
      const cp = await startControlPlane();
      const run = await cp.createRun();
      const { status } = await cp.operate("POST", `/v1/runs/${run}/steps`, { step });
      expect(status).toBe(400);
    },
  );
});

describe("listing runs", () => {
  it("goes newest first, page by page", async () => {
    const cp = await startControlPlane();
    for (const run of ["one", "two", "three"]) await cp.createRun({ run, template: "t" });
    const runs = async (query: string) => {
      const { json } = await cp.operate("GET", `/v1/runs?${query}`);
      return [(json["runs"] as { run: string }[]).map(({ run }) => run), json["next"]];
    };
    expect(await runs("limit=2")).toEqual([["three", "two"], "two"]);
    expect(await runs("limit=2&cursor=two")).toEqual([["one"], null]);
  });
});

describe("operator calls", () => {
  it.each([
    "/v1/runs",
    "/v1/runs/x",
    "/v1/runs/x/steps",
    "/v1/runs/x/variables",
    "/v1/runs/x/variables/a",
  ])("%s needs the operator token", async (path) => {
    const cp = await startControlPlane();
    for (const authorization of [undefined, "Bearer wrong", `Basic ${cp.operatorToken}`]) {
      const response = await fetch(`${cp.operatorUrl}${path}`, {
        headers: authorization === undefined ? {} : { authorization },
      });
      expect(response.status).toBe(401);
    }
  });

  it("leave health to anyone", async () => {
    const cp = await startControlPlane();
    for (const path of ["/healthz", "/readyz"])
      expect((await fetch(`${cp.operatorUrl}${path}`)).status).toBe(200);
  });
});

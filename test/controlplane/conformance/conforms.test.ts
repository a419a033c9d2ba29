import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allChecks } from "../../../controlplane/conformance/all-checks.ts";
import { brokenAccess } from "./broken-access.ts";
import { brokenDeliveries } from "./broken-deliveries.ts";
import { brokenPrefills } from "./broken-prefills.ts";
import { jsonAnswer, problemAnswer, type Fault } from "./broken-proxy.ts";
import { failed, runSuite } from "./suite.ts";

describe("the conformance suite", () => {
  it("passes every check against this control plane", async () => {
    const results = await runSuite(() => (call, forward) => forward(call));
    expect(results.filter(({ result }) => result !== "ok")).toEqual([]);
    expect(results).toHaveLength(allChecks.length);
    expect(allChecks.length).toBeGreaterThanOrEqual(40);
  });

  it("has no two checks of one name", () => {
    const names = allChecks.map(({ clause, title }) => `${clause} ${title}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it("has each of its clauses in the API page, and no other is there", () => {
    const page =
      readFileSync("spec/control-plane-api.md", "utf8").split("### The clauses")[1] ?? "";
    const written = Array.from(page.matchAll(/^\| (`.*?) +\|/gm), ([, cell = ""]) =>
      cell.replaceAll("`", "").split(", "),
    );
    const clauses = new Set(allChecks.map(({ clause }) => clause));
    expect(written.flat().toSorted()).toEqual([...clauses].toSorted());
  });

  it("has no check that cannot fail", async () => {
    const takesAll: Fault = (call, forward) =>
      call.method === "PUT" ? Promise.resolve(jsonAnswer(201, {})) : forward(call);
    const noticed = new Set([
      ...failed(await runSuite(() => takesAll)),
      ...[...brokenPrefills, ...brokenDeliveries, ...brokenAccess].flatMap((each) => each.noticed),
    ]);
    const rest = allChecks.map(({ title }) => title).filter((title) => !noticed.has(title));
    expect(rest).toEqual([
      // Has a test of its own: whoever redirects fails nearly everything. So does who refuses the other two.
      "answers neither call with a redirect",
      "accepts a pack without values",
      "accepts a pack that comes before any prefill was fetched",
    ]);
  });

  it("asks again where the control plane is busy for a moment", async () => {
    let calls = 0;
    const results = await runSuite(() => async (call, forward) => {
      calls += 1;
      const busy = problemAnswer(503, "unavailable");
      const headers = { ...busy.headers, "retry-after": "0" };
      return calls % 5 === 0 ? { ...busy, headers } : forward(call);
    });
    expect(failed(results)).toEqual([]);
  });
});

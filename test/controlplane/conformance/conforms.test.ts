import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allChecks } from "../../../controlplane/conformance/all-checks.ts";
import { problemAnswer } from "./broken-proxy.ts";
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

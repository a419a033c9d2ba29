import { readFileSync, writeFileSync } from "node:fs";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { startControlPlane } from "../../support/control-plane.ts";

const file = "spec/openapi.json";

describe("the OpenAPI document", () => {
  it("is what spec/openapi.json says, in that order; `npm run openapi` writes it anew", async () => {
    const { operatorUrl } = await startControlPlane();
    const response = await fetch(`${operatorUrl}/openapi.json`);
    expect(response.status).toBe(200);
    const served = await response.text();
    if (process.env["WRITE_OPENAPI"] === "1") writeFileSync(file, served);
    expect(pretty(readFileSync(file, "utf8"))).toBe(pretty(served));
  });

  it("passes a linter", async () => {
    const config = await createConfig({
      extends: ["recommended-strict"],
      // Health has nothing that a caller could ask wrongly.
      rules: { "operation-4xx-response": "off" },
    });
    const source = readFileSync(file, "utf8");
    const problems = await lintFromString({ source, absoluteRef: file, config });
    const lines = problems.map(({ message, ruleId, location: [where] }) => {
      return `${ruleId} ${String(where?.pointer)}: ${message}`;
    });
    expect(lines).toEqual([]);
  });

  it("has each call of the API page, and the page each of its", () => {
    const { paths } = JSON.parse(readFileSync(file, "utf8")) as { paths: Record<string, object> };
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const page = readFileSync("spec/control-plane-api.md", "utf8");
    const described = page.matchAll(/`(GET|POST|PUT) (\/[^`?\s]*)/g);
    expect(
      [...new Set([...described].map(([, method, path]) => `${method} ${path}`))].toSorted(),
    ).toEqual(calls.toSorted());
  });
});

function pretty(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2);
}

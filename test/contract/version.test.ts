import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { version } from "../../contract/version.ts";

it("is the version of package.json", () => {
  const { version: published } = JSON.parse(readFileSync("package.json", "utf8")) as {
    version: string;
  };
  expect(version).toBe(published);
});

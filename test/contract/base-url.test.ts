import { describe, expect, it } from "vitest";
import { isAllowedUrl, parseBaseUrl, urlBelow } from "../../contract/base-url.ts";

describe("the base URL of a control plane", () => {
  it.each([
    ["http://127.0.0.1:8411", "http://127.0.0.1:8411/v1/x"],
    ["https://cp.example/base", "https://cp.example/base/v1/x"],
    ["https://cp.example/base/", "https://cp.example/base/v1/x"],
  ])("%s may have a path, with or without a slash", (text, below) => {
    const url = parseBaseUrl(text);
    expect(url && urlBelow(url, "v1/x")).toBe(below);
  });

  it.each([
    ["another scheme", "ftp://cp.example"],
    ["no scheme", "cp.example:8411"],
    ["credentials", "https://me:secret@cp.example"],
    ["a query", "https://cp.example/?token=x"],
    ["a fragment", "https://cp.example/#x"],
    ["nothing", ""],
  ])("refuses %s", (_, text) => {
    expect(parseBaseUrl(text)).toBeUndefined();
  });

  it.each([
    ["https://cp.example", true],
    ["http://127.0.0.1", true],
    ["http://127.8.9.10:1", true],
    ["http://[::1]:1", true],
    ["http://localhost:1", true],
    ["http://cp.example", false],
    ["http://10.0.0.1", false],
    ["http://localhost.example", false],
    ["http://127.0.0.1.example", false],
  ])("lets a token go to %s without leave: %s", (text, allowed) => {
    const url = new URL(text);
    expect(isAllowedUrl(url, { allowHttp: false })).toBe(allowed);
    expect(isAllowedUrl(url, { allowHttp: true })).toBe(true);
  });
});

import { describe, expect, it } from "vitest";
import { allChecks } from "../../../controlplane/conformance/all-checks.ts";
import { jsonAnswer } from "./broken-proxy.ts";
import { brokenAccess } from "./broken-access.ts";
import { itNotices } from "./broken.ts";
import { changesRefusal } from "./faults.ts";
import { failed, runSuite } from "./suite.ts";

describe("the conformance suite notices a control plane that", () => {
  itNotices(brokenAccess);
});

describe("the conformance suite", () => {
  it("notices errors as HTML in every check of a refusal, and in no other", async () => {
    const html = {
      status: 500,
      headers: { "content-type": "text/html" },
      body: Buffer.from("<p>"),
    };
    const results = await runSuite(() => changesRefusal(({ status }) => ({ ...html, status })));
    const noticed = new Set(failed(results));
    const refusing = allChecks
      .map(({ title }) => title)
      .filter((title) => title.startsWith("refuses "));
    expect(refusing.filter((title) => !noticed.has(title))).toEqual([]);
    const others = [...noticed].filter((title) => !title.startsWith("refuses "));
    // Each of these refuses something on its way.
    expect(others.toSorted()).toEqual([
      "answers 400 invalid_request with a whole problem document",
      "answers 401 unauthorized with a whole problem document",
      "answers 403 forbidden with a whole problem document",
      "answers 409 already_packed with a whole problem document",
      "answers 409 stale_instance with a whole problem document",
      "answers 422 invalid_pack with a whole problem document",
      "answers a call that there is not with 404 not_found",
      "counts an accepted pack as the claim, where no prefill was fetched",
      "keeps what it accepted when another body is refused",
      "sends an answer that can be read, also to a body of 4 MiB that it does not want",
      "shows nothing of a refused pack, neither before nor after the right one",
      "still opens the step's calls after others were turned away",
    ]);
  });

  it("shows no token, whatever the control plane says", async () => {
    let tokens: readonly string[] = [];
    const results = await runSuite((steps) =>
      changesRefusal(({ status }, { headers }) => {
        tokens = [...steps.values()].map(({ token }) => token);
        const detail = `${headers["authorization"] ?? ""} is not allowed`;
        return jsonAnswer(status, { code: "no_such_code", detail });
      }),
    );
    const details = results.map(({ detail }) => detail).join("\n");
    expect(details).toContain("no_such_code (Bearer [token] is not allowed)");
    expect(tokens.length).toBeGreaterThan(100);
    for (const token of tokens) expect(details).not.toContain(token);
  });

  it("notices a redirect, and does not follow it", async () => {
    let elsewhere = 0;
    const results = await runSuite(() => async (call, forward) => {
      if (call.path.includes("elsewhere")) elsewhere += 1;
      if (call.method === "GET") return forward(call);
      return { status: 307, headers: { location: "/elsewhere" }, body: Buffer.alloc(0) };
    });
    expect(failed(results)).toContain("answers neither call with a redirect");
    expect(elsewhere).toBe(0);
  });
});

import { describe, expect, it } from "vitest";
import { allChecks } from "../../../controlplane/conformance/all-checks.ts";
import { jsonAnswer, jsonOf } from "./broken-proxy.ts";
import { itNotices } from "./broken.ts";
import { accepts, changesRefusal, ignoresInstance, opensTo } from "./faults.ts";
import { failed, runSuite } from "./suite.ts";

describe("the conformance suite notices a control plane that", () => {
  itNotices([
    {
      name: "opens a step to everybody",
      fault: (steps) => opensTo(steps, "unauthorized"),
      noticed: [
        "refuses the prefill without a token",
        "refuses the pack without a token",
        "refuses the prefill with a token that nobody gave",
        "refuses the pack with a token that nobody gave",
        "refuses the prefill with a token that was changed",
        "refuses the pack with a token that was changed",
        "still opens the step's calls after others were turned away",
        "sends an answer that can be read, also to a body of 4 MiB that it does not want",
        "answers 401 unauthorized with a whole problem document",
      ],
    },
    {
      name: "opens a step to another step's token",
      fault: (steps) => opensTo(steps, "forbidden"),
      noticed: [
        "refuses the prefill with another step's token",
        "refuses the pack with another step's token",
        "refuses a newer attempt's calls with the older one's token",
        "answers 403 forbidden with a whole problem document",
      ],
    },
    {
      name: "ignores the instance",
      fault: ignoresInstance,
      noticed: [
        "refuses the prefill to a second instance",
        "refuses the pack of a second instance, and still takes the first one's",
        "counts an accepted pack as the claim, where no prefill was fetched",
        "answers 409 stale_instance with a whole problem document",
      ],
    },
    {
      name: "takes calls without an instance",
      fault: () => async (call, forward) =>
        forward({ ...call, headers: { "wfvar-instance": "conformance-pod-1", ...call.headers } }),
      noticed: [
        "refuses the prefill without Wfvar-Instance",
        "refuses the pack without Wfvar-Instance",
        "answers 400 invalid_request with a whole problem document",
      ],
    },
    {
      name: "takes an older attempt's pack",
      fault: (steps) => accepts(steps, /^stale_attempt/),
      noticed: ["refuses an older attempt's prefill and pack once a newer one is stamped"],
    },
    {
      name: "sends errors as plain JSON",
      fault: () =>
        changesRefusal((answer) => ({
          ...answer,
          headers: { ...answer.headers, "content-type": "application/json" },
        })),
      noticed: [
        "answers 401 unauthorized with a whole problem document",
        "answers 403 forbidden with a whole problem document",
        "answers 400 invalid_request with a whole problem document",
        "answers 422 invalid_pack with a whole problem document",
        "answers 409 already_packed with a whole problem document",
        "answers 409 stale_instance with a whole problem document",
      ],
    },
    {
      name: "leaves out the title of a problem",
      fault: () =>
        changesRefusal((answer) =>
          jsonAnswer(
            answer.status,
            { ...jsonOf(answer), title: undefined },
            "application/problem+json",
          ),
        ),
      noticed: [
        "answers 401 unauthorized with a whole problem document",
        "answers 403 forbidden with a whole problem document",
        "answers 400 invalid_request with a whole problem document",
        "answers 422 invalid_pack with a whole problem document",
        "answers 409 already_packed with a whole problem document",
        "answers 409 stale_instance with a whole problem document",
      ],
    },
    {
      name: "repeats the request in a refusal",
      fault: () =>
        changesRefusal((answer, call) =>
          jsonAnswer(
            answer.status,
            { ...jsonOf(answer), detail: call.headers["authorization"] ?? "none" },
            "application/problem+json",
          ),
        ),
      noticed: ["repeats neither a token nor a value in a refusal"],
    },
    {
      name: "hangs up on a body that it does not want",
      fault: () => async (call, forward) => {
        const answer = await forward(call);
        return answer.status === 401 && call.body.length > 1024 ** 2 ? undefined : answer;
      },
      noticed: ["sends an answer that can be read, also to a body of 4 MiB that it does not want"],
    },
  ]);
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

import { jsonAnswer, jsonOf } from "./broken-proxy.ts";
import type { Broken } from "./broken.ts";
import {
  accepts,
  changesRefusal,
  claimsForAllAttempts,
  forgetsPrefill,
  ignoresInstance,
  opensTo,
  trustsTokenAlone,
} from "./faults.ts";

/** Control planes that open, claim or refuse wrongly in one way. */
export const brokenAccess: readonly Broken[] = [
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
  {
    name: "looks at the token and not at the path",
    fault: trustsTokenAlone,
    noticed: [
      "refuses the prefill with another step's token",
      "refuses the pack with another step's token",
      "refuses the prefill for a run that is not the token's",
      "refuses the pack for a run that is not the token's",
      "refuses the prefill for an attempt that is not the token's",
      "refuses the pack for an attempt that is not the token's",
      "refuses the prefill without an attempt",
      "refuses the pack without an attempt",
      "refuses the prefill for an attempt that is no number",
      "refuses the pack for an attempt that is no number",
      "refuses a newer attempt's calls with the older one's token",
      "answers 403 forbidden with a whole problem document",
    ],
  },
  {
    name: "takes anything for an instance",
    fault: () => async (call, forward) => {
      const instance = call.headers["wfvar-instance"];
      const none = instance === undefined || /^[\x21-\x7e]{1,128}$/.test(instance);
      const headers = { ...call.headers, "wfvar-instance": "conformance-pod-1" };
      return forward(none ? call : { ...call, headers });
    },
    noticed: [
      "refuses the prefill with a Wfvar-Instance of 129 characters",
      "refuses the pack with a Wfvar-Instance of 129 characters",
      "refuses the prefill with a blank in Wfvar-Instance",
      "refuses the pack with a blank in Wfvar-Instance",
    ],
  },
  {
    name: "claims a step for all its attempts",
    fault: claimsForAllAttempts,
    noticed: ["takes the newer attempt's pack after the older one had claimed"],
  },
  {
    name: "forgets the prefill of a step that is packed",
    fault: forgetsPrefill,
    noticed: [
      "counts an accepted pack as the claim, where no prefill was fetched",
      "gives the first instance its prefill again, also after its pack",
    ],
  },
  {
    name: "answers every path below a step",
    fault: () => async (call, forward) =>
      forward({ ...call, path: call.path.replace("no-such-call", "variables") }),
    noticed: ["answers a call that there is not with 404 not_found"],
  },
];

import { pack as createTar } from "tar-stream";
import { hashBody } from "../../../contract/hashed-body.ts";
import { fileHeader, folderHeader } from "../../../contract/pack.ts";
import { makePack } from "../../../controlplane/conformance/make-pack.ts";
import { readTar, type PrefillEntry } from "../../../controlplane/conformance/read-prefill.ts";
import {
  jsonAnswer,
  jsonOf,
  problemAnswer,
  withBody,
  type Answer,
  type Call,
  type Fault,
} from "./broken-proxy.ts";
import { stepKey, type Steps } from "./suite.ts";

/** Faults that control planes have, each exactly one thing. */

/** Changes every prefill that is answered with 200. */
export function changesPrefill(
  change: (answer: Answer, call: Call) => Answer | Promise<Answer>,
): Fault {
  return async (call, forward) => {
    const answer = await forward(call);
    return call.method === "GET" && answer.status === 200 ? change(answer, call) : answer;
  };
}

/** Changes what every prefill holds; length and digest are those of the new tar. */
export function changesEntries(
  change: (entries: readonly PrefillEntry[], call: Call) => readonly PrefillEntry[],
): Fault {
  return changesPrefill(async (answer, call) => {
    const tar = createTar();
    for (const { name, kind, bytes } of change(await readTar(answer.body), call)) {
      if (kind === "folder") tar.entry(folderHeader(name));
      else tar.entry(fileHeader(name, bytes.length), bytes);
    }
    tar.finalize();
    return withBody(answer, Buffer.concat((await hashBody(tar)).chunks));
  });
}

/** Changes every answer to a pack. */
export function changesPackAnswer(change: (answer: Answer, call: Call) => Answer): Fault {
  return async (call, forward) => {
    const answer = await forward(call);
    return call.method === "PUT" ? change(answer, call) : answer;
  };
}

/** Changes every refusal. */
export function changesRefusal(change: (answer: Answer, call: Call) => Answer): Fault {
  return async (call, forward) => {
    const answer = await forward(call);
    return answer.status >= 400 ? change(answer, call) : answer;
  };
}

/** Takes a pack where the control plane refuses it for this reason; keeps nothing of it. */
export function accepts(steps: Steps, reason: RegExp): Fault {
  return changesPackAnswer((answer, call) => {
    const { code, detail } = jsonOf(answer);
    return answer.status >= 400 && reason.test(`${String(code)} ${String(detail)}`)
      ? receiptFor(steps, call)
      : answer;
  });
}

/** Opens a step's calls to whoever is refused with this code. */
export function opensTo(steps: Steps, code: string): Fault {
  return async (call, forward) => {
    const answer = await forward(call);
    const step = steps.get(keyOf(call));
    if (step === undefined || jsonOf(answer)["code"] !== code) return answer;
    const authorization = `Bearer ${step.token}`;
    return forward({ ...call, headers: { ...call.headers, authorization } });
  };
}

/** Lets every instance have every attempt. */
export function ignoresInstance(steps: Steps): Fault {
  const first = new Map<string, string>();
  return async (call, forward) => {
    const answer = await forward(call);
    const instance = call.headers["wfvar-instance"] ?? "";
    if (answer.status < 300) first.set(keyOf(call), instance);
    if (jsonOf(answer)["code"] !== "stale_instance") return answer;
    if (call.method === "PUT") return receiptFor(steps, call);
    const known = first.get(keyOf(call)) ?? "";
    return forward({ ...call, headers: { ...call.headers, "wfvar-instance": known } });
  };
}

/** Stores the first value of a pack that it then refuses. */
export function keepsHalf(steps: Steps): Fault {
  return async (call, forward) => {
    const step = steps.get(keyOf(call));
    if (step !== undefined && call.body.includes(Buffer.from([0xff]))) {
      const half = await makePack(step, { values: { a: "0" } });
      await forward(withBody(call, half));
      return problemAnswer(422, "invalid_pack");
    }
    return forward(call);
  };
}

/** An invented receipt: nothing of the pack was stored. */
function receiptFor(steps: Steps, call: Call): Answer {
  const { run = "", step = "", attempt = 0 } = steps.get(keyOf(call)) ?? {};
  const receipt = { run, step, attempt, sha256: "0".repeat(64), accepted: 0, warnings: [] };
  return jsonAnswer(201, { ...receipt, status: "succeeded", cause: null });
}

function keyOf({ path }: Call): string {
  const [, run = "", step = "", , attempt = ""] =
    /^\/v1\/runs\/([^/]+)\/steps\/([^/]+)\/(variables|pack)\?attempt=(.*)$/.exec(path) ?? [];
  return stepKey(run, step, attempt);
}

import { pack as createTar } from "tar-stream";
import { hashBody } from "../../../contract/hashed-body.ts";
import { fileHeader, folderHeader, type PackManifest } from "../../../contract/pack.ts";
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

/** Opens to a token the calls of its own step, whatever the path says. */
export function trustsTokenAlone(steps: Steps): Fault {
  return async (call, forward) => {
    const token = call.headers["authorization"]?.slice("Bearer ".length);
    const step = [...steps.values()].find((each) => each.token === token);
    const name = /([^/?]*)(\?|$)/.exec(call.path)?.[1] ?? "";
    if (step === undefined || call.path.includes(step.step.toUpperCase())) return forward(call);
    const path = `/v1/runs/${step.run}/steps/${step.step}/${name}?attempt=${String(step.attempt)}`;
    return forward({ ...call, path });
  };
}

/** Refuses packs for their `pack.json`, which the control plane would take. */
export function refusesPacks(where: (manifest: PackManifest) => boolean): Fault {
  return async (call, forward) => {
    const answer = await forward(call);
    const refused = answer.status === 201 && where(manifestOf(call.body));
    return refused ? problemAnswer(422, "invalid_pack") : answer;
  };
}

/** Refuses what comes for a step after one of its packs was refused. */
export function closesAfterRefusal(steps: Steps): Fault {
  const closed = new Set<string>();
  return async (call, forward) => {
    const key = keyOf(call);
    if (closed.has(key)) return problemAnswer(409, "stale_attempt");
    const answer = await forward(call);
    if (steps.has(key) && call.method === "PUT" && [400, 413, 422].includes(answer.status)) {
      closed.add(key);
    }
    return answer;
  };
}

/** Keeps a pack whose connection was cut, as far as it came. */
export function keepsCut(steps: Steps): Fault {
  return async (call, forward) => {
    const step = steps.get(keyOf(call));
    if (!call.cut || step === undefined) return forward(call);
    const half = await makePack(step, { values: { a: "x" } });
    return forward({ ...withBody(call, half), cut: false });
  };
}

/** Gives a step to its first instance, and every attempt of it. */
export function claimsForAllAttempts(): Fault {
  const first = new Map<string, string>();
  return async (call, forward) => {
    const answer = await forward(call);
    const step = keyOf(call).replace(/\?.*/, "");
    const instance = call.headers["wfvar-instance"] ?? "";
    if (answer.status >= 300) return answer;
    if (!first.has(step)) first.set(step, instance);
    return first.get(step) === instance ? answer : problemAnswer(409, "stale_instance");
  };
}

/** Has no prefill for a step whose pack it took. */
export function forgetsPrefill(): Fault {
  const packed = new Set<string>();
  return async (call, forward) => {
    const key = keyOf(call);
    if (call.method === "GET" && packed.has(key)) return problemAnswer(409, "already_packed");
    const answer = await forward(call);
    if (call.method === "PUT" && answer.status === 201) packed.add(key);
    return answer;
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

/** `pack.json` of a pack that was taken: the first entry. */
function manifestOf(pack: Buffer): PackManifest {
  const size = Number.parseInt(pack.toString("latin1", 124, 135), 8);
  return JSON.parse(pack.toString("utf8", 512, 512 + size)) as PackManifest;
}

function keyOf({ path }: Call): string {
  const [, run = "", step = "", , attempt = ""] =
    /^\/v1\/runs\/([^/]+)\/steps\/([^/]+)\/(variables|pack)\?attempt=(.*)$/.exec(path) ?? [];
  return stepKey(run, step, attempt);
}

import { Readable } from "node:stream";
import { request, type Dispatcher } from "undici";
import { urlBelow } from "../contract/base-url.ts";
import type { HashedBody } from "../contract/hashed-body.ts";
import { escapeText } from "../contract/escape.ts";
import { formatContentDigest } from "../contract/tar-feed.ts";
import { problem, type Problem } from "../contract/wire.ts";
import { version } from "../contract/version.ts";
import type { Target } from "./config.ts";
import type { Deadline } from "./deadline.ts";
import { makeDispatcher, networkReason } from "./dispatcher.ts";
import { SidecarError } from "./sidecar-error.ts";
import { readToken } from "./token.ts";
import type { Try } from "./retry.ts";

/**
 * The step calls of the control plane (API page). One method is one try; what may be tried again comes back
 * as `retry` (WV-12).
 */

/** Without a byte for so long, a try is over. */
const idleTimeoutMs = 30_000;
const maxAnswerBytes = 1024 ** 2;
const maxDetailLength = 512;
const retriedStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

export type Answer = Dispatcher.ResponseData;

export interface CpClient {
  /** Asks for the prefill; `use` reads the body of a 200. */
  readonly getPrefill: <T>(use: (answer: Answer) => Promise<T>) => Promise<Try<T>>;
  /** Sends a pack; `use` gets the body of a 200 or 201, and a refusal that counts as done. */
  readonly putPack: <T>(body: HashedBody, handlers: PackHandlers<T>) => Promise<Try<T>>;
  readonly close: () => Promise<void>;
}

export interface PackHandlers<T> {
  readonly accepted: (body: string) => T;
  /** Undefined where the refusal is for good. */
  readonly refused: (refusal: Problem) => T | undefined;
}

/** Where a step call goes. */
export function stepCallUrl(target: Target, call: "variables" | "pack"): string {
  const { cpUrl, run, step, attempt } = target;
  const path = `v1/runs/${run}/steps/${step.text}/${call}?attempt=${String(attempt)}`;
  return urlBelow(cpUrl, path);
}

/** Makes a client for one step. `dispatcher` replaces the network in tests that break it on purpose. */
export async function createCpClient(
  target: Target,
  deadline: Deadline,
  dispatcher?: Dispatcher,
): Promise<CpClient> {
  const network = dispatcher ?? (await makeDispatcher(target));
  async function call<T>(
    method: "GET" | "PUT",
    url: string,
    sent: { headers: Record<string, string>; body?: Readable },
    use: (answer: Answer) => Promise<Try<T>>,
  ): Promise<Try<T>> {
    try {
      const token = await readToken(target.tokenFile);
      const answer = await request(url, {
        method,
        dispatcher: network,
        signal: deadline.signal,
        headersTimeout: idleTimeoutMs,
        bodyTimeout: idleTimeoutMs,
        headers: {
          authorization: `Bearer ${token}`,
          "wfvar-instance": target.instance,
          "user-agent": `wfvar-sidecar/${version}`,
          ...(target.traceparent === undefined ? {} : { traceparent: target.traceparent }),
          ...sent.headers,
        },
        body: sent.body ?? null,
      });
      if (answer.statusCode >= 500 || retriedStatuses.has(answer.statusCode)) {
        const afterMs = retryAfterMs(answer.headers["retry-after"]);
        await discard(answer);
        return { retry: `status ${String(answer.statusCode)}`, afterMs };
      }
      if (answer.statusCode === 401 && (await readToken(target.tokenFile)) !== token) {
        await discard(answer);
        return { retry: "status 401 while the token file changed" };
      }
      return await use(answer);
    } catch (error) {
      // A token that is being replaced may be gone for a moment, and a step's values are worth the wait.
      if (error instanceof SidecarError && error.code === "config_invalid") {
        return { retry: error.message };
      }
      if (error instanceof SidecarError) throw error;
      return { retry: networkReason(error) };
    }
  }

  return {
    getPrefill: async (use) =>
      call("GET", stepCallUrl(target, "variables"), { headers: {} }, async (answer) => {
        if (answer.statusCode === 200) return { done: await use(answer) };
        throw refusalError(answer.statusCode, await readProblem(answer));
      }),
    putPack: async ({ chunks, size, sha256 }, { accepted, refused }) => {
      const headers = {
        "content-type": "application/x-tar",
        "content-length": String(size),
        "content-digest": formatContentDigest(sha256),
      };
      const sent = { headers, body: Readable.from(chunks, { objectMode: false }) };
      return call("PUT", stepCallUrl(target, "pack"), sent, async (answer) => {
        if (answer.statusCode === 200 || answer.statusCode === 201) {
          return { done: accepted(await readText(answer)) };
        }
        const refusal = await readProblem(answer);
        const counted = refusal === undefined ? undefined : refused(refusal);
        if (counted !== undefined) return { done: counted };
        throw refusalError(answer.statusCode, refusal);
      });
    },
    close: async () => {
      await network.destroy();
    },
  };
}

async function readText(answer: Answer): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxAnswerBytes) throw new Error("the answer is too large");
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function discard(answer: Answer): Promise<void> {
  await answer.body.dump({ limit: maxAnswerBytes });
}

async function readProblem(answer: Answer): Promise<Problem | undefined> {
  try {
    return problem.parse(JSON.parse(await readText(answer)));
  } catch {
    return undefined;
  }
}

/** What the other side says is cut and escaped: it may be long, and a broken proxy may echo what it was sent. */
function refusalError(status: number, refusal: Problem | undefined): SidecarError {
  const said = refusal === undefined ? "" : ` ${refusal.code}: ${escapeText(refusal.detail)}`;
  const detail = said
    .replaceAll(/[\w-]{8,}(\.[\w-]{8,}){2}|Bearer \S+/g, "[token]")
    .slice(0, maxDetailLength);
  return new SidecarError("refused", `the control plane refused: ${String(status)}${detail}`);
}

/** `Retry-After` in seconds or as a date, in milliseconds from now. */
function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== "string") return undefined;
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

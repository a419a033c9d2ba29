import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request, type Dispatcher } from "undici";
import { urlBelow } from "../../contract/base-url.ts";
import { formatContentDigest } from "../../contract/tar-feed.ts";
import { version } from "../../contract/version.ts";
import { Mismatch, Skipped } from "./check.ts";
import {
  FixtureError,
  isOfKind,
  type Fixture,
  type FreshStep,
  type Origin,
  type StepKind,
} from "./fixture.ts";

/** As the sidecar waits (API page, Step calls). */
const idleTimeoutMs = 30_000;
/**
 * A connection is used again only at once: the fixture takes its time between two calls, and a control plane may
 * close an idle connection while it does.
 */
const keepAliveMs = 500;
const maxAnswerBytes = 64 * 1024 ** 2;
/** For 429 and 503: the suite asks again, as a sidecar would. */
const maxTries = 6;
const pauseMs = 250;
const maxPauseMs = 5_000;
/** What was sent has this long to arrive before its connection is cut. */
const cutAfterMs = 50;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** How a call differs from the one that a sidecar would make for the step. */
export interface CallOptions {
  /** Null: none. */
  readonly token?: string | null;
  readonly instance?: string | null;
  readonly run?: string;
  readonly step?: string;
  /** As it stands in the query; null: no query. */
  readonly attempt?: string | null;
  /** Null: none. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Without `Content-Length`. */
  readonly chunked?: true;
}

/** The pod that calls, unless a check says otherwise. */
export const firstInstance = "conformance-pod-1";
export const secondInstance = "conformance-pod-2";

/**
 * The implementation under test: fresh steps from the fixture, and the step calls. A redirect is an answer
 * like any other and is not followed (WV-12).
 */
export class Subject implements AsyncDisposable {
  readonly #fixture: Fixture;
  readonly #signal: AbortSignal;
  readonly #agent = new Agent({
    maxResponseSize: maxAnswerBytes,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
  });
  readonly #tokens = new Set<string>();
  readonly #attempts = new Set<string>();

  /** `signal` ends whatever is under way; its reason is then thrown. */
  constructor(fixture: Fixture, signal: AbortSignal) {
    this.#fixture = fixture;
    this.#signal = signal;
  }

  /**
   * A fresh step. Throws Skipped where the fixture has none of this kind, FixtureError where it gives none at
   * all or one for the second time.
   */
  async stamp(kind: StepKind = "step", origin?: Origin): Promise<FreshStep> {
    const step = await this.#fixture.stamp(kind, origin);
    if ("skip" in step) throw noStep(kind, step.skip);
    if (!isOfKind(step, kind, origin)) throw noStep(kind, "it answered with another kind of step");
    const attempt = `${step.run} ${step.step} ${String(step.attempt)}`;
    if (this.#attempts.has(attempt)) {
      throw new FixtureError(
        "the fixture gave one attempt twice; each call must stamp a fresh one",
      );
    }
    this.#attempts.add(attempt);
    this.#tokens.add(step.token);
    return step;
  }

  /** Fetches the prefill. */
  async prefill(step: FreshStep, options: CallOptions = {}): Promise<Answer> {
    return this.call("GET", "variables", step, undefined, options);
  }

  /** Delivers a body as the step's pack, with the digest that it has. */
  async deliver(step: FreshStep, body: Buffer, options: CallOptions = {}): Promise<Answer> {
    return this.call("PUT", "pack", step, body, options);
  }

  /** Calls a path below the step's; asks again while the answer is 429 or 503. */
  async call(
    method: "GET" | "PUT",
    name: string,
    step: FreshStep,
    body: Buffer | undefined,
    options: CallOptions,
  ): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#callOnce(method, name, step, body, options);
      if (tries === maxTries || ![429, 503].includes(answer.status)) return answer;
      await sleep(retryPauseMs(answer), undefined, { signal: this.#signal });
    }
  }

  /** Begins a delivery and cuts the connection after half of the body; whatever comes of it is not looked at. */
  async cutDelivery(step: FreshStep, body: Buffer): Promise<void> {
    const half = async function* (): AsyncGenerator<Buffer> {
      yield body.subarray(0, body.length / 2);
      await sleep(cutAfterMs);
      throw new Error("cut");
    };
    const sent = { body: Readable.from(half(), { objectMode: false }), headers: packHeaders(body) };
    sent.headers["content-length"] = String(body.length);
    await this.#request("PUT", "pack", step, sent, {}).catch(() => undefined);
  }

  /** A text without the tokens that the fixture gave. */
  redact(text: string): string {
    let redacted = text;
    for (const token of this.#tokens) redacted = redacted.replaceAll(token, "[token]");
    return redacted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }

  async #callOnce(
    method: "GET" | "PUT",
    name: string,
    step: FreshStep,
    body: Buffer | undefined,
    options: CallOptions,
  ): Promise<Answer> {
    const chunks = options.chunked ? Readable.from([body], { objectMode: false }) : (body ?? null);
    const headers = body === undefined ? {} : packHeaders(body);
    try {
      const answer = await this.#request(method, name, step, { body: chunks, headers }, options);
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      return { status: answer.statusCode, headers: answer.headers, body: bytes };
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new Mismatch("an answer", reasonOf(error));
    }
  }

  async #request(
    method: "GET" | "PUT",
    name: string,
    step: FreshStep,
    sent: { body: Buffer | Readable | null; headers: Record<string, string> },
    options: CallOptions,
  ): Promise<Dispatcher.ResponseData> {
    const { token = step.token, instance = firstInstance } = options;
    const { run = step.run, step: path = step.step, attempt = String(step.attempt) } = options;
    const query = attempt === null ? "" : `?attempt=${attempt}`;
    return await request(urlBelow(step.url, `v1/runs/${run}/steps/${path}/${name}${query}`), {
      method,
      dispatcher: this.#agent,
      signal: this.#signal,
      headersTimeout: idleTimeoutMs,
      bodyTimeout: idleTimeoutMs,
      headers: given({
        authorization: token === null ? null : `Bearer ${token}`,
        "wfvar-instance": instance,
        "user-agent": `wfvar-conformance/${version}`,
        ...sent.headers,
        ...options.headers,
      }),
      body: sent.body,
    });
  }
}

/** Every fixture has to give plain steps; without the others there are checks to skip. */
function noStep(kind: StepKind, why: string): Error {
  const message = `the fixture gives no \`${kind}\`: ${why}`;
  return kind === "step" ? new FixtureError(message) : new Skipped(message);
}

function packHeaders(body: Buffer): Record<string, string> {
  return {
    "content-type": "application/x-tar",
    "content-digest": formatContentDigest(createHash("sha256").update(body).digest()),
  };
}

function given(headers: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}

function retryPauseMs({ headers }: Answer): number {
  const seconds = Number(headers["retry-after"]);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, maxPauseMs) : pauseMs;
}

/** The error's code or name: never its message, which may hold a URL. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "an unknown error";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

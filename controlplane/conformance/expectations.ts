import { escapeText } from "../../contract/escape.ts";
import type { ApiCode } from "../../contract/codes.ts";
import { isJsonObject, parseJsonObject } from "../../contract/json.ts";
import { compareKeys } from "../../contract/key.ts";
import { packReceipt, type PackReceipt } from "../../contract/wire.ts";
import { statusOf } from "../api-error.ts";
import { Mismatch } from "./check.ts";
import type { Answer } from "./subject.ts";

/**
 * What checks expect of an answer. Each throws Mismatch, saying what was expected and what was seen, at full
 * length: it is cut only after tokens are taken out, so that no part of one is left.
 */

/** One of these statuses; nothing is said of the body. */
export function expectStatus(answer: Answer, ...statuses: readonly number[]): void {
  if (!statuses.includes(answer.status)) {
    throw new Mismatch(statuses.join(" or "), describeAnswer(answer));
  }
}

/** A refusal with one of these codes, and the status that belongs to it. */
export function expectRefusal(answer: Answer, ...codes: readonly ApiCode[]): void {
  const code = codes.find((each) => codeOf(answer) === each);
  if (code === undefined || answer.status !== statusOf[code]) {
    const expected = codes.map((each) => `${String(statusOf[each])} ${each}`).join(" or ");
    throw new Mismatch(expected, describeAnswer(answer));
  }
}

/** A receipt with this status: 201 for the first acceptance, 200 for the same bytes again. */
export function expectReceipt(answer: Answer, status: 200 | 201): PackReceipt {
  expectStatus(answer, status);
  const receipt = packReceipt.safeParse(parseJsonObject(answer.body));
  if (receipt.success) return receipt.data;
  const [issue] = receipt.error.issues;
  throw new Mismatch(
    "a receipt",
    `${issue?.path.join(".") || "the body"}: ${issue?.message ?? "not valid"}`,
  );
}

/** Two facts that have to be the same; shown as JSON. */
export function expectEqual(what: string, seen: unknown, expected: unknown): void {
  const [seenText, expectedText] = [toText(seen), toText(expected)];
  if (seenText !== expectedText) throw new Mismatch(`${what} ${expectedText}`, seenText);
}

/** An answer in a few words: `409 already_packed (…)`, `502 text/html`. */
export function describeAnswer(answer: Answer): string {
  const code = codeOf(answer);
  if (code === undefined) {
    return escapeText(`${String(answer.status)} ${String(answer.headers["content-type"] ?? "")}`);
  }
  const detail = parseJsonObject(answer.body)?.["detail"];
  const said = typeof detail === "string" ? ` (${detail})` : "";
  return escapeText(`${String(answer.status)} ${code}${said}`);
}

function codeOf({ status, body }: Answer): string | undefined {
  const code = status < 400 ? undefined : parseJsonObject(body)?.["code"];
  return typeof code === "string" ? code : undefined;
}

/** Members in one order, whatever order they came in. */
function toText(value: unknown): string {
  if (value === undefined) return "none";
  const text = JSON.stringify(value, (_, inner: unknown) =>
    isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => compareKeys(a, b)))
      : inner,
  );
  return escapeText(text);
}

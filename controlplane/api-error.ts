import type { ApiCode } from "../contract/codes.ts";

export const statusOf = {
  invalid_request: 400,
  invalid_pack: 422,
  digest_mismatch: 400,
  length_required: 411,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  run_exists: 409,
  attempt_exists: 409,
  already_packed: 409,
  stale_instance: 409,
  stale_attempt: 409,
  too_large: 413,
  unavailable: 503,
  internal_error: 500,
} as const satisfies Record<ApiCode, number>;

/**
 * A refusal of the API: `message` is the problem document's `detail`, one line for a person, never a value or
 * a token.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ApiCode;
  readonly status: number;
  /** More members of the problem document. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(code: ApiCode, message: string, fields: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.status = statusOf[code];
    this.fields = fields;
  }
}

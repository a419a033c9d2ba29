import type { SidecarCode } from "../contract/codes.ts";

/**
 * What ends a sidecar without a delivery. The message is one clear line for a person; never a value or a
 * token.
 */
export class SidecarError extends Error {
  override readonly name = "SidecarError";
  readonly code: SidecarCode;

  constructor(code: SidecarCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

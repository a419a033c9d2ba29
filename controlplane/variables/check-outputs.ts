import { maxSegments, parseKey } from "../../contract/key.ts";
import type { StampStep } from "../../contract/wire.ts";
import { ApiError } from "../api-error.ts";

/** Throws `invalid_request` for a declared output that no file of the step could be: its full key is too deep. */
export function checkOutputs({ step, outputs }: StampStep): void {
  for (const { key } of outputs) {
    if ("problem" in parseKey(`${step}.${key}`)) {
      const limit = `with the step's own path, at most ${String(maxSegments)} segments`;
      throw new ApiError("invalid_request", `outputs: ${key} is too deep; a key has, ${limit}`);
    }
  }
}

import type { HelperCode } from "../../contract/codes.ts";
import { VariablesError } from "../../helper/variables-error.ts";

/** The code that the call throws, "ok" where it returns; anything but a VariablesError goes on. */
export function codeOf(call: () => unknown): HelperCode | "ok" {
  try {
    call();
    return "ok";
  } catch (error) {
    if (error instanceof VariablesError) return error.code;
    throw error;
  }
}

import type { CommandIo } from "./command.ts";
import { encodeValue, isUtf8 } from "./value.ts";
import { VariablesError } from "./variables-error.ts";

/**
 * The bytes of a command-line argument. Node decodes arguments leniently: bytes that are not UTF-8 come as U+FFFD, and would be stored as
 * something else than what was given. Throws `invalid_value` then.
 */
export function argumentBytes(argument: string, io: Pick<CommandIo, "rawArguments">): Uint8Array {
  if (argument.includes("\uFFFD") && !isUtf8(io.rawArguments())) {
    throw new VariablesError(
      "invalid_value",
      "the value on the command line is not valid UTF-8: encode it as UTF-8, binary data as base64",
    );
  }
  return encodeValue(argument);
}

import { VariablesError } from "./variables-error.ts";

/** Values (WV-4): exact bytes that are valid UTF-8. Nothing is trimmed, normalised or appended, a byte order mark included. */

/** ignoreBOM keeps a byte order mark: without it the decoder would eat the value's first three bytes. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Throws `invalid_value` where the bytes are not UTF-8. */
export function decodeValue(bytes: Uint8Array, key: string): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new VariablesError(
      "invalid_value",
      `the value of ${key} is not valid UTF-8: encode it as UTF-8, binary data as base64`,
      {
        key,
        size: bytes.length,
        cause,
      },
    );
  }
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Throws `invalid_value` where the text has half a surrogate pair, which UTF-8 cannot hold and encoders silently replace. */
export function encodeValue(text: string): Uint8Array {
  if (/\p{Surrogate}/u.test(text)) {
    throw new VariablesError(
      "invalid_value",
      "the value holds half of a surrogate pair, which UTF-8 cannot hold: the text was cut in the middle of a character",
    );
  }
  return Buffer.from(text);
}

/** Throws `value_too_large`, with the size and the limit (WV-5). */
export function checkSize(size: number, limit: number, key: string): void {
  if (size > limit) throw tooLarge(`${String(size)} bytes`, key, size, limit);
}

/** As `checkSize`, of bytes that were read to one past the limit: how many there are is not known. */
export function checkReadSize({ length }: Uint8Array, limit: number, key: string): void {
  if (length > limit) throw tooLarge(`more than ${String(limit)} bytes`, key, undefined, limit);
}

function tooLarge(
  text: string,
  key: string,
  size: number | undefined,
  limit: number,
): VariablesError {
  return new VariablesError(
    "value_too_large",
    `the value of ${key} has ${text}; the limit is ${String(limit)}: shorten it or split it over several keys`,
    { key, size, limit },
  );
}

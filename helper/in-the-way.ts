import { VariablesError } from "./variables-error.ts";

/** `unsafe_path` of a write: on the way to the key, or in its place, stands what is never gone into (WV-11). */
export function inTheWay(key: string, segment: string): VariablesError {
  return new VariablesError(
    "unsafe_path",
    `on the way to ${key}, ${segment} is a link, a pipe, a device, another mount, a closed folder or one of more than 64 spellings, and is never gone into: remove it`,
    { key },
  );
}

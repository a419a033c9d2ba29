import { constants, fstatSync, openSync } from "node:fs";
import { withFd } from "./descriptors.ts";
import { readUpTo } from "./read-up-to.ts";
import { errnoOf, VariablesError } from "./variables-error.ts";
import { checkSize } from "./value.ts";

// O_NONBLOCK: a FIFO is refused, not waited for.
const inputFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The bytes of the caller's own regular file, links followed. Throws `usage` where there is none, `value_too_large` past the limit,
 * `io_error`. Never quotes the name: a caller who mixed up flags may have given a value.
 */
export function readInputFile(path: string, maxBytes: number, key: string): Uint8Array {
  return withFd(open(path), (fd) => {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw notRegular();
    checkSize(stats.size, maxBytes, key);
    return readUpTo(fd, maxBytes + 1);
  });
}

function open(path: string): number {
  try {
    return openSync(path, inputFlags);
  } catch (error) {
    switch (errnoOf(error)) {
      case "ENOENT":
      case "ENOTDIR":
      case "ENAMETOOLONG":
        throw new VariablesError("usage", "--file names no file: give the path of one");
      case "ENXIO":
        throw notRegular();
      default:
        throw new VariablesError(
          "io_error",
          `the file of --file cannot be opened (${errnoOf(error) ?? "?"}): check its owner and mode`,
          { cause: error },
        );
    }
  }
}

function notRegular(): VariablesError {
  return new VariablesError(
    "usage",
    "what --file names is not a regular file: pipe its bytes in with --stdin",
  );
}

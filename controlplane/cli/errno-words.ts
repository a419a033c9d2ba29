const words: ReadonlyMap<string, string> = new Map([
  ["EACCES", "no permission"],
  ["EADDRINUSE", "already in use; choose another port"],
  ["ECONNREFUSED", "nothing listens there"],
  ["ENOTFOUND", "its name does not resolve"],
  ["EADDRNOTAVAIL", "not an address of this machine"],
  ["EISDIR", "it is a folder"],
  ["ENOENT", "it does not exist"],
  ["ENOSPC", "the disk is full"],
  ["ENOTDIR", "a part of its path is not a folder"],
  ["EROFS", "the file system is read-only"],
]);

/** Why something failed, in words where there are some, else the errno or the message; a database's codes say nothing. */
export function whyFailed(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  // Node's own codes say less than their messages.
  const isErrno = code !== undefined && !code.startsWith("ERR_");
  return isErrno ? (words.get(code) ?? code) : error.message;
}

const words: ReadonlyMap<string, string> = new Map([
  ["EACCES", "no permission"],
  ["EADDRINUSE", "already in use; choose another port"],
  ["EADDRNOTAVAIL", "not an address of this machine"],
  ["EISDIR", "it is a folder"],
  ["ENOENT", "it does not exist"],
  ["ENOSPC", "the disk is full"],
  ["ENOTDIR", "a part of its path is not a folder"],
  ["EROFS", "the file system is read-only"],
]);

/** Why something failed, in words where there are some, else the errno or the message. */
export function whyFailed(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return code === undefined ? error.message : (words.get(code) ?? code);
}

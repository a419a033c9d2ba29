/**
 * Node has no `openat`. A path through `/proc/self/fd/<fd>/` is the same thing: the kernel
 * resolves `<name>` against the open directory itself, whatever has happened to the
 * names that once led to it. With O_NOFOLLOW on the last component nothing is left to swap.
 */
export function at(dirFd: number, name: string): string;
export function at(dirFd: number, name: Uint8Array): Buffer;
export function at(dirFd: number, name: string | Uint8Array): string | Buffer {
  const folder = `/proc/self/fd/${String(dirFd)}/`;
  return typeof name === "string" ? folder + name : Buffer.concat([Buffer.from(folder), name]);
}

/** The open directory itself, for listing it: a fresh description of the same inode. */
export function atSelf(dirFd: number): string {
  return `/proc/self/fd/${String(dirFd)}`;
}

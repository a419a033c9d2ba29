import { closeSync } from "node:fs";
import { openRoot } from "../../sidecar/descriptor.ts";

/** Opens a root for as long as `use` takes. */
export async function withRoot<T>(root: string, use: (fd: number) => Promise<T>): Promise<T> {
  const fd = openRoot(root);
  try {
    return await use(fd);
  } finally {
    closeSync(fd);
  }
}

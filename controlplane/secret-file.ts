import { randomUUID } from "node:crypto";
import { link, open, readFile, rm } from "node:fs/promises";

/**
 * Reads a secret that this control plane made on an earlier start, or makes it now with mode 0600. Written
 * aside and linked into place, so that of two processes that start at once both read the same whole secret.
 */
export async function readOrMakeSecret(
  file: string,
  make: () => Promise<string>,
): Promise<{ secret: string; made: boolean }> {
  const existing = await read(file);
  if (existing !== undefined) return { secret: existing, made: false };
  const aside = `${file}.${randomUUID()}`;
  const handle = await open(aside, "wx", 0o600);
  try {
    await handle.writeFile(await make());
    await handle.sync();
  } finally {
    await handle.close();
  }
  let made = true;
  try {
    await link(aside, file);
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
    made = false;
  } finally {
    await rm(aside);
  }
  return { secret: await readFile(file, "utf8"), made };
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

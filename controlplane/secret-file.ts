import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm } from "node:fs/promises";
import { readFileSync, statSync } from "node:fs";

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
  const aside = await writeAside(file, await make());
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

/** Replaces a secret by a new one with mode 0600; whoever reads has the old one or the new one, whole. */
export async function replaceSecret(file: string, secret: string): Promise<void> {
  await rename(await writeAside(file, secret), file);
}

/** A secret that is read again whenever its file has changed: whoever rotates it restarts nothing. */
export class SecretFile<T> {
  readonly #file: string;
  readonly #parse: (text: string) => T;
  readonly #onProblem: (error: unknown) => void;
  #seen: string;
  #value: T;

  /** Throws where it cannot be read or parsed now; later, `onProblem` is told, and what was read last stands. */
  constructor(file: string, parse: (text: string) => T, onProblem: (error: unknown) => void) {
    this.#file = file;
    this.#parse = parse;
    this.#onProblem = onProblem;
    this.#seen = this.#look();
    this.#value = parse(readFileSync(file, "utf8"));
  }

  get value(): T {
    try {
      const now = this.#look();
      if (now !== this.#seen) {
        this.#seen = now;
        this.#value = this.#parse(readFileSync(this.#file, "utf8"));
      }
    } catch (error) {
      this.#onProblem(error);
    }
    return this.#value;
  }

  #look(): string {
    const { ino, mtimeNs, size } = statSync(this.#file, { bigint: true });
    return [ino, mtimeNs, size].join(" ");
  }
}

async function writeAside(file: string, secret: string): Promise<string> {
  const aside = `${file}.${randomUUID()}`;
  const handle = await open(aside, "wx", 0o600);
  try {
    await handle.writeFile(secret);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return aside;
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

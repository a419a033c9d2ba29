import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readOrMakeSecret, replaceSecret, SecretFile } from "./secret-file.ts";

const minLength = 16;

/** The token of operator calls. Kept in a file; this holds only its hash. */
export interface OperatorToken {
  readonly matches: (token: string) => boolean;
  /** Whether it was made just now. */
  readonly made: boolean;
}

/**
 * Reads the token from `file`, or makes one there with mode 0600, and follows its changes. Throws where the file
 * holds none; a change to none is told to `onProblem`, and the old one stays.
 */
export async function openOperatorToken(
  file: string,
  onProblem: (error: unknown) => void,
): Promise<OperatorToken> {
  const made = await makeOperatorToken(file);
  const secret = new SecretFile(file, hashOf, onProblem);
  return { matches: (given) => timingSafeEqual(sha256(given), secret.value), made };
}

/** Makes the file with mode 0600 where there is none; says whether it did. */
export async function makeOperatorToken(file: string): Promise<boolean> {
  const { made } = await readOrMakeSecret(file, async () => makeToken());
  return made;
}

/** Puts a new token into the file; the old one opens nothing from then on. */
export async function rotateOperatorToken(file: string): Promise<void> {
  await replaceSecret(file, makeToken());
}

function makeToken(): string {
  return `${randomBytes(32).toString("base64url")}\n`;
}

/** Whether a file's text is long enough to be a token; blanks around it do not count. */
export function isOperatorToken(secret: string): boolean {
  return secret.trim().length >= minLength;
}

function hashOf(secret: string): Buffer {
  if (!isOperatorToken(secret)) {
    const least = String(minLength);
    throw new Error(`the operator token file holds no token of ${least} characters or more`);
  }
  return sha256(secret.trim());
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

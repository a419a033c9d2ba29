import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readOrMakeSecret } from "./secret-file.ts";

/** The token of operator calls. Kept in a file; this holds only its hash. */
export interface OperatorToken {
  readonly matches: (token: string) => boolean;
  /** Whether it was made just now. */
  readonly made: boolean;
}

/** Reads the token from `file`, or makes one there with mode 0600. Throws where the file holds none. */
export async function openOperatorToken(file: string): Promise<OperatorToken> {
  const { secret, made } = await readOrMakeSecret(
    file,
    async () => `${randomBytes(32).toString("base64url")}\n`,
  );
  const token = secret.trim();
  if (token.length < 16)
    throw new Error("the operator token file holds no token of 16 characters or more");
  const expected = sha256(token);
  return { matches: (given) => timingSafeEqual(sha256(given), expected), made };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

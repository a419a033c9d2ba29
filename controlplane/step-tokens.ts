import { exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT, type JWK } from "jose";
import { z } from "zod";
import { readOrMakeSecret } from "./secret-file.ts";

const algorithm = "EdDSA";
const audience = "wfvar-step";

const claims = z.object({ run: z.string(), step: z.string(), attempt: z.int() });
const storedKey = z.looseObject({ kty: z.string(), crv: z.string(), x: z.string(), d: z.string() });

/** The one step attempt whose two calls a token opens. */
export type StepClaims = z.infer<typeof claims>;

/**
 * Signed tokens for step calls (API page, Tokens): they name run, step, attempt and expiry, and nothing is
 * stored for them.
 */
export interface StepTokens {
  readonly sign: (claims: StepClaims, expiresAt: Date) => Promise<string>;
  /** Undefined where the token is not ours, is damaged, or has expired. */
  readonly verify: (token: string) => Promise<StepClaims | undefined>;
}

/** Reads the signing key from `file`, or makes one there with mode 0600. */
export async function openStepTokens(file: string): Promise<StepTokens> {
  const { secret } = await readOrMakeSecret(file, makeKey);
  const jwk = parseKey(secret);
  const { d: _private, ...publicJwk } = jwk;
  const signingKey = await importJWK(jwk, algorithm);
  const verifyingKey = await importJWK(publicJwk, algorithm);
  return {
    sign: (payload, expiresAt) =>
      new SignJWT({ ...payload })
        .setProtectedHeader({ alg: algorithm })
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime(expiresAt)
        .sign(signingKey),
    verify: async (token) => {
      try {
        const options = { algorithms: [algorithm], audience, requiredClaims: ["exp"] };
        const { payload } = await jwtVerify(token, verifyingKey, options);
        return claims.parse(payload);
      } catch {
        return undefined;
      }
    },
  };
}

/** The parser's own message would quote the key. */
function parseKey(secret: string): z.infer<typeof storedKey> {
  try {
    return storedKey.parse(JSON.parse(secret));
  } catch {
    throw new Error("step-key.json is damaged; restore it, or remove it to make a new one");
  }
}

async function makeKey(): Promise<string> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk: JWK = await exportJWK(privateKey);
  return `${JSON.stringify(jwk)}\n`;
}

import { createLocalJWKSet, importJWK, jwtVerify, SignJWT } from "jose";
import * as z from "zod";
import { SecretFile } from "./secret-file.ts";
import { keyAlgorithm, makeStepKeys, parseStepKeys, type StepKey } from "./step-keys.ts";

const audience = "wfvar-step";

const claims = z.object({ run: z.string(), step: z.string(), attempt: z.int() });

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

export interface StepTokensDeps {
  readonly now: () => Date;
  /** Told where the file has changed to what cannot be used; the keys before go on. */
  readonly onProblem: (error: unknown) => void;
}

/** Reads the keys from `file`, or makes one there with mode 0600, and follows the file's changes. */
export async function openStepTokens(
  file: string,
  { now, onProblem }: StepTokensDeps,
): Promise<StepTokens> {
  await makeStepKeys(file, now());
  const secret = new SecretFile(file, readKeys, onProblem);
  return {
    sign: async (payload, expiresAt) => {
      const { kid, key } = secret.value.signing(now());
      return new SignJWT({ ...payload })
        .setProtectedHeader({ alg: keyAlgorithm, kid })
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime(expiresAt)
        .sign(await key);
    },
    verify: async (token) => {
      try {
        const options = { algorithms: [keyAlgorithm], audience, requiredClaims: ["exp"] };
        const { payload } = await jwtVerify(token, secret.value.verifying, options);
        return claims.parse(payload);
      } catch {
        return undefined;
      }
    },
  };
}

function readKeys(text: string) {
  const keys = parseStepKeys(text);
  const verifying = createLocalJWKSet({ keys: keys.map(publicPart) });
  const imported = keys.map((key) => ({
    kid: key.kid,
    signsFromMs: Date.parse(key.signs_from),
    key: importJWK(key, keyAlgorithm),
  }));
  return {
    verifying,
    /** The newest that signs already. */
    signing: (now: Date) => {
      const ready = imported.find(({ signsFromMs }) => signsFromMs <= now.getTime());
      const chosen = ready ?? imported.at(-1);
      if (chosen === undefined) throw new Error("there is no step key");
      return chosen;
    },
  };
}

function publicPart({ kid, kty, crv, x }: StepKey) {
  return { kid, kty, crv, x, alg: keyAlgorithm };
}

import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair } from "jose";
import * as z from "zod";
import { readOrMakeSecret, replaceSecret } from "./secret-file.ts";

export const keyAlgorithm = "EdDSA";

/** A private Ed25519 key as a JWK, and from when on it signs; until then it only verifies. */
const stepKey = z.strictObject({
  kid: z.string(),
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  x: z.string(),
  d: z.string(),
  signs_from: z.iso.datetime(),
});
export type StepKey = z.infer<typeof stepKey>;

const keyFile = z.strictObject({ keys: z.array(stepKey).min(1).max(2) });

/** The keys of step tokens, newest first. Throws where the text is not such a file; never quotes it. */
export function parseStepKeys(text: string): [StepKey, ...StepKey[]] {
  try {
    const { keys } = keyFile.parse(JSON.parse(text));
    const [newest, ...older] = keys;
    if (newest !== undefined) return [newest, ...older];
  } catch {
    // Said below: the parsers' own messages would quote the key.
  }
  throw new Error("the step key file is damaged; restore it, or remove it to make a new one");
}

/** Makes the file with one key and mode 0600 where there is none; says whether it did. */
export async function makeStepKeys(file: string, now: Date): Promise<boolean> {
  const { made } = await readOrMakeSecret(file, async () => format([await makeKey(now)]));
  return made;
}

/**
 * Adds a key that verifies at once and signs after `delayMs`, when every replica has it; the one before it goes on
 * verifying, and what is older is dropped: tokens that it signed open nothing any more. Throws where the newest key
 * does not sign yet.
 */
export async function rotateStepKeys(
  file: string,
  text: string,
  now: Date,
  delayMs: number,
): Promise<{ added: StepKey; dropped: StepKey | undefined }> {
  const [newest, older] = parseStepKeys(text);
  if (Date.parse(newest.signs_from) > now.getTime()) {
    throw new Error(`the newest key signs only from ${newest.signs_from}; rotate after that`);
  }
  const added = await makeKey(new Date(now.getTime() + delayMs));
  await replaceSecret(file, format([added, newest]));
  return { added, dropped: older };
}

async function makeKey(signsFrom: Date): Promise<StepKey> {
  const { privateKey } = await generateKeyPair(keyAlgorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return stepKey.parse({ ...jwk, kid: randomUUID(), signs_from: signsFrom.toISOString() });
}

function format(keys: readonly StepKey[]): string {
  return `${JSON.stringify({ keys })}\n`;
}

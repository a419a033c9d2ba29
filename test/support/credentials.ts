import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  base64url,
  exportJWK,
  generateKeyPair,
  importJWK,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
  type JWK,
  type JWTHeaderParameters,
} from "jose";
import type { TestControlPlane } from "./control-plane.ts";

/** What a step token names. */
export interface Subject {
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
}

/** What a caller shows: headers, and what it puts behind the URL. */
export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  readonly query?: string;
}

/**
 * Every kind of credential that a control plane may be shown for one step attempt, by name, the good ones last.
 * Those that are forged with the control plane's own key differ from a good token in the one thing they are
 * named for. `tokenOf` gives a token as the control plane itself hands it out.
 */
export async function credentialsFor(
  cp: TestControlPlane,
  subject: Subject,
  tokenOf: (subject: Subject) => Promise<string>,
) {
  const keyFile = readFileSync(join(cp.dataDir, "step-key.json"), "utf8");
  const [jwk] = (JSON.parse(keyFile) as { keys: [JWK & { kid: string; x: string }] }).keys;
  const { kid } = jwk;
  const key = (await importJWK(jwk, "EdDSA")) as CryptoKey;
  const other = await generateKeyPair("EdDSA", { extractable: true });
  const otherJwk = await exportJWK(other.publicKey);
  const publicBytes = base64url.decode(jwk.x);
  const now = Math.floor(Date.now() / 1000);
  const claims = { ...subject, aud: "wfvar-step", iat: now, exp: now + 600 };
  const sign = (
    payload: object,
    signer: CryptoKey | Uint8Array = key,
    header: JWTHeaderParameters = { alg: "EdDSA", kid },
  ) => new SignJWT({ ...payload }).setProtectedHeader(header).sign(signer);
  const without = (name: keyof typeof claims) => sign({ ...claims, [name]: undefined });

  // The older one first: from the newer one's stamp on no older one can be stamped.
  const older = await tokenOf({ ...subject, attempt: subject.attempt - 1 });
  const good = await tokenOf(subject);
  const [head = "", body = "", signature = ""] = good.split(".");
  const wider = base64url.encode(JSON.stringify({ ...claims, step: "*" }));
  return {
    "no token": { headers: {} },
    "an empty token": bearer(""),
    "another scheme": { headers: { authorization: `Basic ${good}` } },
    "no scheme": { headers: { authorization: good } },
    "two tokens": bearer(`${good} ${good}`),
    "two tokens with a comma": bearer(`${good}, Bearer ${good}`),
    "a tab before it": { headers: { authorization: `Bearer\t${good}` } },
    "the token in the URL": { headers: {}, query: `access_token=${good}&token=${good}` },
    garbage: bearer(randomBytes(32).toString("base64url")),
    "garbage in three parts": bearer([32, 64, 64].map(randomText).join(".")),
    "no signature": bearer(`${head}.${body}.`),
    "a damaged signature": bearer(`${head}.${body}.${swapFirst(signature)}`),
    "claims of another signature": bearer(`${head}.${wider}.${signature}`),
    "alg none": bearer(new UnsecuredJWT(claims).encode()),
    "a public key for a secret": bearer(await sign(claims, publicBytes, { alg: "HS256", kid })),
    "another key": bearer(await sign(claims, other.privateKey)),
    "another key that comes along": bearer(
      await sign(claims, other.privateKey, { alg: "EdDSA", kid, jwk: otherJwk }),
    ),
    "a key id of nobody": bearer(await sign(claims, key, { alg: "EdDSA", kid: "nobody" })),
    expired: bearer(await sign({ ...claims, iat: now - 7200, exp: now - 3600 })),
    "not valid yet": bearer(await sign({ ...claims, nbf: now + 3600 })),
    "no expiry": bearer(await without("exp")),
    "another audience": bearer(await sign({ ...claims, aud: "wfvar-operator" })),
    "no audience": bearer(await without("aud")),
    "no step": bearer(await without("step")),
    "an attempt that is text": bearer(await sign({ ...claims, attempt: String(subject.attempt) })),
    "any step": bearer(await sign({ ...claims, step: "*" })),
    "another step's": bearer(await tokenOf({ ...subject, step: "other" })),
    "another run's": bearer(await tokenOf({ ...subject, run: subject.run.toUpperCase() })),
    "an older attempt's": bearer(older),
    "a newer attempt's": bearer(await sign({ ...claims, attempt: subject.attempt + 1 })),
    "the operator's": bearer(cp.operatorToken),
    "the operator's, spelled otherwise": spelledOtherwise(cp.operatorToken),
    "the step's": bearer(good),
    "the step's, spelled otherwise": spelledOtherwise(good),
    "the step's, from another pod": { headers: { ...bearer(good).headers, ...anotherPod } },
  } as const satisfies Record<string, Credential>;
}

export type CredentialName = keyof Awaited<ReturnType<typeof credentialsFor>>;

const anotherPod = { "wfvar-instance": "pod-2" };

function bearer(token: string): Credential {
  return { headers: { authorization: `Bearer ${token}` } };
}

/** The scheme's name has no case, and more than one blank may follow it (RFC 9110, 11.4). */
function spelledOtherwise(token: string): Credential {
  return { headers: { authorization: `bEARER  ${token}` } };
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}

function swapFirst(text: string): string {
  return `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`;
}

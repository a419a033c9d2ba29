import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { request } from "undici";
import { at } from "../contract/at.ts";
import type { Config } from "./config.ts";
import { stepCallUrl } from "./cp-client.ts";
import { makeDispatcher, networkReason } from "./dispatcher.ts";
import { errnoOf } from "./descriptor.ts";
import { SidecarError } from "./sidecar-error.ts";
import { readToken } from "./token.ts";
import { openOwnFolder } from "./walk/own-folder.ts";
import { openVolume } from "./volume.ts";

const reachTimeoutMs = 5_000;
const probeName = ".wfvar-doctor";

/** What a check found; a problem says what to mend. */
type Finding = { readonly ok: string } | { readonly problem: string };

/**
 * `wfvar-sidecar doctor`: checks what a pod's sidecar needs, all of it, one line each. Claims nothing at the
 * control plane. Throws `volume_unusable` where any check found a problem.
 */
export async function doctorCommand(config: Config, print: (text: string) => void): Promise<void> {
  print("ok       settings       complete\n");
  const checks: [string, () => Finding | Promise<Finding>][] = [
    ["volume", () => checkVolume(config)],
    ["token file", () => checkToken(config)],
    ["control plane", () => checkControlPlane(config)],
  ];
  let failed = 0;
  for (const [name, check] of checks) {
    const finding = await asFinding(check);
    const good = "ok" in finding;
    if (!good) failed += 1;
    print(
      `${good ? "ok      " : "PROBLEM "} ${name.padEnd(14)} ${good ? finding.ok : finding.problem}\n`,
    );
  }
  if (failed > 0) throw new SidecarError("volume_unusable", `${String(failed)} checks failed`);
}

async function asFinding(check: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof SidecarError) return { problem: error.message };
    throw error;
  }
}

function checkVolume({ root, target }: Config): Finding {
  const rootFd = openVolume(root);
  try {
    const own = openOwnFolder(rootFd, target.step);
    if (own === "unreadable")
      return { problem: "the step's own folder may not be opened by this user" };
    if (own !== "missing") closeSync(own);
    const folder =
      own === "missing" ? "; the step's own folder is not there yet: prefill makes it" : "";
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_WRONLY;
    closeSync(openSync(at(rootFd, probeName), flags, 0o600));
    unlinkSync(at(rootFd, probeName));
    return { ok: `readable and writable, /proc there${folder}` };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "") throw error;
    return {
      problem: `cannot be written (${errno}): give this user rights on it (fsGroup, or mode 0777)`,
    };
  } finally {
    closeSync(rootFd);
  }
}

async function checkToken({ target }: Config): Promise<Finding> {
  const token = await readToken(target.tokenFile);
  return { ok: `readable, ${String(token.length)} characters` };
}

/**
 * Asks for the prefill without a token: a step listener says 401, and the attempt is claimed for nobody. So the
 * token itself is not tried.
 */
async function checkControlPlane({ target }: Config): Promise<Finding> {
  const { cpUrl } = target;
  const dispatcher = await makeDispatcher(target);
  try {
    const signal = AbortSignal.timeout(reachTimeoutMs);
    const url = stepCallUrl(target, "variables");
    const { statusCode, body } = await request(url, { dispatcher, signal });
    await body.dump();
    if (statusCode === 401) return { ok: `answers at ${cpUrl.origin}; the token was not tried` };
    const hint = statusCode === 404 ? "; is WFVAR_CP_URL the step listener?" : "";
    return { problem: `${cpUrl.origin} answered ${String(statusCode)} where 401 was due${hint}` };
  } catch (error) {
    const reason = networkReason(error);
    return { problem: `no answer from ${cpUrl.origin} (${reason}): ${advice(reason)}` };
  } finally {
    await dispatcher.destroy();
  }
}

function advice(reason: string): string {
  if (reason === "ECONNREFUSED") return "nothing listens there; check WFVAR_CP_URL and its port";
  if (reason === "ENOTFOUND" || reason === "EAI_AGAIN")
    return "the name does not resolve; check WFVAR_CP_URL and DNS";
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME/.test(reason))
    return "its certificate is not trusted; set WFVAR_CA_FILE to the issuer's PEM";
  return "a network policy, a proxy or a firewall may be in the way";
}

import { readFile } from "node:fs/promises";
import { Agent, ProxyAgent, type Dispatcher } from "undici";
import type { Target } from "./config.ts";
import { SidecarError } from "./sidecar-error.ts";

const connectTimeoutMs = 5_000;

/**
 * The network as the settings say: own roots, a proxy, one connection. Throws `config_invalid` where the CA
 * file cannot be read.
 */
export async function makeDispatcher({ caFile, proxy }: Target): Promise<Dispatcher> {
  let ca: string | undefined;
  try {
    ca = caFile === undefined ? undefined : await readFile(caFile, "utf8");
  } catch (error) {
    throw new SidecarError("config_invalid", "WFVAR_CA_FILE cannot be read", { cause: error });
  }
  const tls = ca === undefined ? {} : { ca };
  const options = { maxResponseSize: -1, connections: 1 };
  return proxy === undefined
    ? new Agent({ ...options, connect: { timeout: connectTimeoutMs, ...tls } })
    : new ProxyAgent({
        ...options,
        uri: proxy.href,
        requestTls: { timeout: connectTimeoutMs, ...tls },
        proxyTls: { timeout: connectTimeoutMs, ...tls },
      });
}

/** The error's code or name: never its message, which may hold a URL. */
export function networkReason(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

import type { HashedBody } from "../contract/hashed-body.ts";
import { parseJsonObject, type JsonObject } from "../contract/json.ts";
import type { CpClient } from "./cp-client.ts";
import type { Deadline } from "./deadline.ts";
import { retry, type RetryDeps } from "./retry.ts";
import { SidecarError } from "./sidecar-error.ts";

/**
 * How a delivery ended well: with the control plane's receipt, or because an earlier one of this pod was
 * accepted already.
 */
export type Delivered =
  | { readonly receipt: JsonObject; readonly tries: number }
  | { readonly alreadyPacked: string | undefined; readonly tries: number };

/**
 * Sends the pack until the control plane has it, at least once (WV-12). Throws `refused` where it will never
 * take it, `not_delivered` where the deadline came first.
 */
export async function deliver(
  pack: HashedBody,
  client: CpClient,
  deadline: Deadline,
  deps: RetryDeps,
): Promise<Delivered> {
  let tries = 0;
  const result = await retry<Delivered>(
    () => {
      tries += 1;
      return client.putPack<Delivered>(pack, {
        // The status has said it all: what the receipt says beside is for the log, and may be of a newer version.
        accepted: (body) => ({ receipt: parseJsonObject(Buffer.from(body)) ?? {}, tries }),
        refused: ({ code, accepted_sha256 }) =>
          code === "already_packed" ? { alreadyPacked: accepted_sha256, tries } : undefined,
      });
    },
    deadline,
    deps,
  );
  if ("done" in result) return result.done;
  throw new SidecarError(
    "not_delivered",
    `gave up after ${String(result.tries)} tries: ${result.gaveUp}; the values of this step are lost`,
  );
}

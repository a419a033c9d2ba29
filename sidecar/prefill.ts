import { lstatSync } from "node:fs";
import { at } from "../contract/at.ts";
import { rootFiles } from "../contract/layout.ts";
import type { Config } from "./config.ts";
import type { CpClient } from "./cp-client.ts";
import type { Deadline } from "./deadline.ts";
import { onVolume, PrefillWriter } from "./prefill-writer.ts";
import { retry, type RetryDeps } from "./retry.ts";
import { unpackPrefill } from "./unpack-prefill.ts";
import { SidecarError } from "./sidecar-error.ts";

/**
 * Fills the volume before the agent starts (WV-1). The control plane's answer is checked entry by entry
 * before anything of the entry is written, and as a whole by its digest before success; on any violation the
 * pod fails and the agent never starts.
 */

export interface Prefilled {
  readonly files: number;
  readonly bytes: number;
  readonly tries: number;
}

/** Throws `prefill_invalid`, `prefill_too_large`, `refused`, `not_delivered` or `volume_unusable`. */
export async function prefill(
  rootFd: number,
  { root, target }: Pick<Config, "root" | "target">,
  client: CpClient,
  deadline: Deadline,
  deps: RetryDeps,
): Promise<Prefilled> {
  refuseUsed(rootFd);
  let tries = 0;
  const result = await retry(
    () => {
      tries += 1;
      const writer = new PrefillWriter(rootFd);
      return client.getPrefill(async (answer) => {
        return { writer, ...(await unpackPrefill(answer, target.step, writer)) };
      });
    },
    deadline,
    deps,
  );
  if (!("done" in result)) {
    throw new SidecarError(
      "not_delivered",
      `no prefill after ${String(result.tries)} tries: ${result.gaveUp}`,
    );
  }
  const { writer, files, bytes } = result.done;
  const own = target.step.segments;
  const self = [root.replace(/\/+$/, ""), ...own].join("/");
  onVolume(() => {
    writer.writeFile([rootFiles.self], Buffer.from(self));
    writer.close(own);
  });
  return { files, bytes, tries };
}

/** The step that ended here would be delivered again as the new one, at once. */
function refuseUsed(rootFd: number): void {
  const marker = at(rootFd, rootFiles.done);
  if (onVolume(() => lstatSync(marker, { throwIfNoEntry: false })) === undefined) return;
  throw new SidecarError(
    "volume_unusable",
    `a step has ended in this volume (${rootFiles.done} stands): a pod needs a fresh volume`,
  );
}

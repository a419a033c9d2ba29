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

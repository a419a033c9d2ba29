import { createCpClient } from "./cp-client.ts";
import { Deadline } from "./deadline.ts";
import { installKit } from "./install-kit.ts";
import { loggedRetries } from "./log.ts";
import type { Pod } from "./pod.ts";
import { prefill } from "./prefill.ts";
import { readToken } from "./token.ts";
import { steadyNow } from "./steady-clock.ts";

/**
 * `wfvar-sidecar prefill`: the init container. A signal ends it at once; the pod is going, and no agent has
 * started.
 */
export async function prefillCommand(pod: Pod): Promise<void> {
  const { rootFd, config, interruption, log, state } = pod;
  using deadline = new Deadline(steadyNow() + config.prefillTimeoutMs, steadyNow);
  const stop = (): void => {
    if (interruption.at !== undefined) deadline.shortenTo(interruption.at);
  };
  interruption.signal.addEventListener("abort", stop);
  stop();
  // Before anything is at stake, a missing token is a setting to mend and not worth a wait.
  await readToken(config.target.tokenFile);
  if (config.installKit !== undefined) {
    const files = await installKit(config.kitDir, config.installKit);
    log.info({ event: "kit_installed", files });
  }
  const client = await createCpClient(config.target, deadline);
  try {
    const done = await prefill(rootFd, config, client, deadline, loggedRetries(log));
    log.info({ event: "prefilled", ...done });
    state.write("prefilled");
  } finally {
    await client.close();
  }
}

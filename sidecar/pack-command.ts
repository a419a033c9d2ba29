import type { Logger } from "pino";
import { collect } from "./collect.ts";
import type { Config } from "./config.ts";
import { Deadline } from "./deadline.ts";
import type { Interruption } from "./interruption.ts";
import { writeLastWord } from "./last-word.ts";
import { loggedRetries } from "./log.ts";
import { waitForEnd } from "./wait.ts";

/** Kept of the pod's grace for packing and for leaving: K of the shutdown arithmetic. */
const packReserveMs = 2_000;
/** How long a delivery goes on where neither a deadline nor a signal bounds it. */
const unboundedDeliveryMs = 3_600_000;

/** `wfvar-sidecar pack`: waits for the step's end, whatever it is, packs what is there and delivers it. What that needs is loaded only then. */
export async function packCommand(
  rootFd: number,
  config: Config,
  interruption: Interruption,
  log: Logger,
): Promise<void> {
  const { target, limits } = config;
  log.info({ event: "waiting" });
  const by = await waitForEnd(rootFd, {
    patience: config,
    interruption,
    now: Date.now,
    onWarning: (event) => log.warn({ event }),
  });
  const endedAt = Date.now();
  const collected = collect(rootFd, target.step, by, limits);
  const [{ buildPack }, { createCpClient }, { deliver }] = await Promise.all([
    import("./pack.ts"),
    import("./cp-client.ts"),
    import("./deliver.ts"),
  ]);
  const pack = await buildPack(collected, target, limits);

  using deadline = new Deadline(deliveryEnd(config, endedAt), Date.now);
  const shorten = (): void => {
    const from = interruption.at;
    if (from !== undefined) deadline.shortenTo(from + config.podGraceMs - packReserveMs);
  };
  interruption.signal.addEventListener("abort", shorten);
  shorten();

  const client = await createCpClient(target, deadline);
  try {
    const delivered = await deliver(pack, client, deadline, loggedRetries(log));
    const { values, rejected, skipped, more } = collected;
    const accepted = values.length;
    const sha256 = pack.sha256.toString("hex");
    const issues = { rejected, skipped, more };
    log.info({
      event: "delivered",
      completion: by,
      accepted,
      bytes: pack.size,
      sha256,
      ...issues,
      ...delivered,
    });
    const word = { result: "delivered", step: target.step.text, accepted, rejected };
    writeLastWord(config.terminationLog, word);
  } finally {
    await client.close();
  }
}

/** A delivery may go on until the control plane no longer expects it: deadline and grace. */
function deliveryEnd({ deadline, podGraceMs }: Config, endedAt: number): number {
  if (deadline === undefined) return endedAt + unboundedDeliveryMs;
  return Math.max(deadline, endedAt) + podGraceMs - packReserveMs;
}

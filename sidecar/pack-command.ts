import { once } from "node:events";
import { collect } from "./collect.ts";
import { minReserveMs, type Config } from "./config.ts";
import { Deadline } from "./deadline.ts";
import { loggedRetries } from "./log.ts";
import type { Pod } from "./pod.ts";
import { SidecarError } from "./sidecar-error.ts";
import { waitForEnd } from "./wait.ts";
import { steadyNow } from "./steady-clock.ts";

/** How long a delivery goes on where neither a deadline nor a signal bounds it. */
const unboundedDeliveryMs = 3_600_000;

/**
 * `wfvar-sidecar pack`: waits for the step's end, whatever it is, packs what is there and delivers it. What that needs is loaded only then. A native sidecar lingers after the
 * control plane's final word: the kubelet would start it again and again.
 */
export async function packCommand(pod: Pod): Promise<void> {
  const { config, interruption, log } = pod;
  try {
    await deliverStep(pod);
  } catch (error) {
    const isFinal = error instanceof SidecarError && error.code === "refused";
    if (!config.linger || !isFinal) throw error;
    log.error({ event: "lingering", code: error.code, message: error.message });
    pod.state.write(error.code, { message: error.message });
    await interrupted(interruption.signal);
    throw error;
  }
  if (!config.linger) return;
  log.info({ event: "lingering" });
  await interrupted(interruption.signal);
}

async function deliverStep({ rootFd, config, interruption, log, state }: Pod): Promise<void> {
  const { target, limits } = config;
  log.info({ event: "waiting" });
  state.write("waiting");
  const by = await waitForEnd(rootFd, {
    patience: config,
    interruption,
    now: steadyNow,
    onWarning: (event) => log.warn({ event }),
  });
  const endedAt = steadyNow();
  log.info({ event: "ended", completion: by });
  state.write("packing", { message: `the step ended: ${by}` });
  const collected = collect(rootFd, target.step, by, limits);
  const [{ buildPack }, { createCpClient }, { deliver }] = await Promise.all([
    import("./pack.ts"),
    import("./cp-client.ts"),
    import("./deliver.ts"),
  ]);
  const pack = await buildPack(collected, target, limits);
  const { values, rejected, skipped, more } = collected;
  const outcome = { accepted: values.length, rejected };

  using deadline = new Deadline(deliveryEnd(config, endedAt), steadyNow);
  const shorten = (): void => {
    const from = interruption.at;
    if (from !== undefined) deadline.shortenTo(from + config.podGraceMs - minReserveMs);
  };
  interruption.signal.addEventListener("abort", shorten);
  shorten();

  const retries = loggedRetries(log);
  const client = await createCpClient(target, deadline);
  state.write("delivering", outcome);
  try {
    const delivered = await deliver(pack, client, deadline, {
      ...retries,
      onRetry: (reason, tries, delayMs) => {
        retries.onRetry(reason, tries, delayMs);
        state.write("delivering", { message: `try ${String(tries)}: ${reason}`, ...outcome });
      },
    });
    const summary = { ...outcome, completion: by, bytes: pack.size, skipped, more, ...delivered };
    log.info({ event: "delivered", sha256: pack.sha256.toString("hex"), ...summary });
    state.write("delivered", outcome);
  } finally {
    await client.close();
  }
}

/** A delivery may go on until the control plane no longer expects it: deadline and grace. */
function deliveryEnd({ deadline, podGraceMs }: Config, endedAt: number): number {
  if (deadline === undefined) return endedAt + unboundedDeliveryMs;
  return Math.max(deadline, endedAt) + podGraceMs - minReserveMs;
}

async function interrupted(signal: AbortSignal): Promise<void> {
  // Nothing else may be left to keep the process alive.
  const alive = setInterval(() => undefined, 3_600_000);
  if (!signal.aborted) await once(signal, "abort");
  clearInterval(alive);
}

import { renameSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { openRoot } from "../../sidecar/descriptor.ts";
import type { Interruption } from "../../sidecar/interruption.ts";
import { waitForEnd } from "../../sidecar/wait.ts";
import { tempFolder } from "../support/temp-folder.ts";

const patience = {
  deadline: undefined,
  startDeadlineMs: undefined,
  podGraceMs: 30_000,
  deliveryReserveMs: 10_000,
};

function start(
  root: string,
  interruption: Interruption = { signal: new AbortController().signal, at: undefined },
) {
  const warnings: string[] = [];
  const options = {
    patience,
    interruption,
    now: Date.now,
    onWarning: (event: string) => warnings.push(event),
  };
  return { end: waitForEnd(openRoot(root), options), warnings };
}

async function connected(root: string): Promise<Socket> {
  const path = join(root, ".sidecar.sock");
  return vi.waitFor(
    () =>
      new Promise<Socket>((resolve, reject) => {
        const socket = connect(path, () => resolve(socket));
        socket.on("error", reject);
        onTestFinished(() => void socket.destroy());
      }),
    { timeout: 2000, interval: 20 },
  );
}

it("ends with a marker that is renamed into place", async () => {
  const root = tempFolder();
  const { end } = start(root);
  await delay(100);
  writeFileSync(join(root, ".pending"), "{}");
  renameSync(join(root, ".pending"), join(root, ".done"));
  await expect(end).resolves.toBe("marker");
});

it("ends with a marker that stood before it looked", async () => {
  const root = tempFolder();
  writeFileSync(join(root, ".done"), "{}");
  await expect(start(root).end).resolves.toBe("marker");
});

it("waits for a connected entrypoint to leave after its marker", async () => {
  const root = tempFolder();
  const { end } = start(root);
  const socket = await connected(root);
  writeFileSync(join(root, ".done"), "{}");
  await expect(Promise.race([end, delay(300, "still waiting")])).resolves.toBe("still waiting");
  socket.destroy();
  await expect(end).resolves.toBe("marker");
});

it("notices an entrypoint that died without a marker", async () => {
  const root = tempFolder();
  const { end } = start(root);
  const socket = await connected(root);
  socket.destroy();
  await expect(end).resolves.toBe("lost");
});

it("ends at once when interrupted with nothing connected", async () => {
  const root = tempFolder();
  const controller = new AbortController();
  let at: number | undefined;
  const { end } = start(root, {
    signal: controller.signal,
    get at() {
      return at;
    },
  });
  await delay(50);
  at = Date.now();
  controller.abort();
  await expect(end).resolves.toBe("interrupted");
});

it("closes a connection that talks, and survives more connections than it takes", async () => {
  const root = tempFolder();
  const { end, warnings } = start(root);
  const talker = await connected(root);
  const closed = new Promise((resolve) => talker.once("close", resolve));
  talker.write(Buffer.alloc(1024 * 1024));
  await closed;
  await Promise.all(Array.from({ length: 20 }, () => connected(root)));
  writeFileSync(join(root, ".done"), "{}");
  // Eight of them stay open, so the marker is believed only after its five seconds.
  await expect(end).resolves.toBe("marker");
  expect(warnings).toEqual([]);
});

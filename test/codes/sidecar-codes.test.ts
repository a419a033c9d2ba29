import { mkdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sidecarCodes, type SidecarCode } from "../../contract/codes.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { podEnv, runSidecar } from "../support/sidecar.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { servePrefill } from "../support/serve-prefill.ts";

/** What is changed in the environment of a pod whose step is over, the subcommand, and the exit code. */
const scenarios: Record<
  SidecarCode,
  [number, "prefill" | "pack", () => Promise<Record<string, string>>]
> = {
  config_invalid: [2, "pack", async () => ({ WFVAR_STEP: "workflow" })],
  prefill_invalid: [
    10,
    "prefill",
    async () => ({ WFVAR_CP_URL: await servePrefill(Buffer.from("no tar")) }),
  ],
  prefill_too_large: [
    10,
    "prefill",
    async () => ({
      WFVAR_CP_URL: await servePrefill(Buffer.concat([hugeHeader(), Buffer.alloc(1024 ** 2)])),
    }),
  ],
  refused: [10, "pack", async () => ({ WFVAR_RUN: "another-run" })],
  not_delivered: [
    11,
    "prefill",
    async () => ({ WFVAR_CP_URL: "http://127.0.0.1:1", WFVAR_PREFILL_TIMEOUT: "500ms" }),
  ],
  volume_unusable: [12, "pack", async () => ({ WORKFLOW_VARIABLES_ROOT: "/no/such/folder" })],
};

/** A file that says it has more bytes than any prefill may. */
function hugeHeader(): Buffer {
  const block = Buffer.alloc(512);
  block.write("inspect/HUGE");
  block.write("0000644 \0", 100);
  block.write(`${(64 * 1024 ** 2).toString(8).padStart(11, "0")} `, 124);
  block.write("0", 156);
  block.write("ustar\u000000", 257, "latin1");
  block.write("        ", 148);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

describe("every code that ends a sidecar is produced, with its exit code", () => {
  it.each(sidecarCodes)("%s", async (code) => {
    const [exit, command, change] = scenarios[code];
    const cp = await startControlPlane();
    const stamped = await cp.stamp(await cp.createRun(), { step: "judge" });
    const root = tempFolder();
    if (command === "pack") mkdirSync(`${root}/.done`);
    const env = { ...podEnv(stamped, root, cp.stepUrl), ...(await change()) };
    const finished = await runSidecar(command, env);
    expect([finished.code, finished.log.at(-1)?.["code"]]).toEqual([exit, code]);
  });
});

import { pack as createTar } from "tar-stream";
import { describe, expect, it } from "vitest";
import { hashBody } from "../../contract/hashed-body.ts";
import { podEnv, runSidecar } from "../support/sidecar.ts";
import { servePrefill } from "../support/serve-prefill.ts";
import { tempFolder } from "../support/temp-folder.ts";

describe("a prefill of more entries than a volume should hold (WV-5)", () => {
  it("ends at the limit, which counts the folders that only their files name", async () => {
    // Under 11,000 entries in the tar; with six folders and files each, more than 65,536 on disk.
    const tar = createTar();
    for (let i = 0; i < 10_950; i += 1) {
      tar.entry({ name: `a/${i.toString(36)}/b/c/d/e/f`, mtime: new Date(0) }, "");
    }
    tar.finalize();
    const url = await servePrefill(Buffer.concat((await hashBody(tar)).chunks));
    const stamped = { token: "t", env: { WFVAR_RUN: "r", WFVAR_STEP: "judge" } };
    const { code, log } = await runSidecar("prefill", podEnv(stamped, tempFolder(), url));
    expect([code, log.at(-1)?.["code"]]).toEqual([10, "prefill_too_large"]);
  });
});

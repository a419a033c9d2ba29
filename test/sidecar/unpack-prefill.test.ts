import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { parseStepPath } from "../../contract/ids.ts";
import { formatContentDigest } from "../../contract/tar-feed.ts";
import { PrefillWriter } from "../../sidecar/prefill-writer.ts";
import { unpackPrefill } from "../../sidecar/unpack-prefill.ts";
import { badTars } from "../support/bad-tars.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { withRoot } from "../support/with-root.ts";

describe("a prefill that is no tar of this contract (API page, Prefill)", () => {
  it.each(badTars)("ends as prefill_invalid: %s", async (_, parts) => {
    const step = parseStepPath("judge");
    if (step === undefined) throw new Error("unreachable");
    const body = Buffer.concat(parts);
    const digest = formatContentDigest(createHash("sha256").update(body).digest());
    const answer = {
      headers: { "content-digest": digest },
      body: Readable.from([body], { objectMode: false }),
    };
    const root = tempFolder();
    const unpacked = withRoot(root, (fd) => unpackPrefill(answer, step, new PrefillWriter(fd)));
    await expect(unpacked).rejects.toMatchObject({ name: "SidecarError", code: "prefill_invalid" });
  });
});

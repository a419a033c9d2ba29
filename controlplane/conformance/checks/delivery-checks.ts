import { createHash } from "node:crypto";
import { parseJsonObject } from "../../../contract/json.ts";
import { maxSegments } from "../../../contract/key.ts";
import { Mismatch, Skipped, type Check } from "../check.ts";
import {
  describeAnswer,
  expectEqual,
  expectReceipt,
  expectRefusal,
  expectStatus,
} from "../expectations.ts";
import type { FreshStep } from "../fixture.ts";
import { makePack, type PackSpec } from "../make-pack.ts";
import type { Subject } from "../subject.ts";
import { emptyValues, fillStep } from "../fill-step.ts";

/** What is accepted, and exactly once (WV-11, WV-12). */
export const deliveryChecks: readonly Check[] = [
  {
    clause: "WV-12",
    title: "answers a pack with 201 and a receipt of what was accepted",
    run: async (subject) => {
      const step = await subject.stamp();
      const body = await makePack(step, { values: { a: "1", b: "2" } });
      const receipt = expectReceipt(await subject.deliver(step, body), 201);
      const { run, step: path, attempt, sha256, accepted } = receipt;
      expectEqual(
        "a receipt for",
        { run, step: path, attempt, sha256, accepted },
        { run: step.run, step: step.step, attempt: step.attempt, sha256: hash(body), accepted: 2 },
      );
    },
  },
  {
    clause: "WV-12",
    title: "answers the same body again with 200 and the first receipt",
    run: async (subject) => {
      const step = await subject.stamp();
      const body = await makePack(step, { values: { a: "1" } });
      const first = await subject.deliver(step, body);
      expectStatus(first, 201);
      const again = await subject.deliver(step, body);
      expectStatus(again, 200);
      expectEqual("the receipt", expectReceipt(again, 200), expectReceipt(first, 201));
    },
  },
  {
    clause: "WV-12",
    title: "refuses another body of the same instance, and says which it has",
    run: async (subject) => {
      const step = await subject.stamp();
      const first = await makePack(step, { values: { a: "1" } });
      expectStatus(await subject.deliver(step, first), 201);
      const other = await subject.deliver(step, await makePack(step, { values: { a: "2" } }));
      expectRefusal(other, "already_packed");
      const accepted = parseJsonObject(other.body)?.["accepted_sha256"];
      expectEqual("accepted_sha256", accepted, hash(first));
    },
  },
  {
    clause: "WV-12",
    title: "accepts a pack exactly once when it comes twice at once",
    run: async (subject) => {
      const step = await subject.stamp();
      const body = await makePack(step, { values: { a: "1" } });
      const answers = await Promise.all([subject.deliver(step, body), subject.deliver(step, body)]);
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
      expectEqual("statuses", statuses, [200, 201]);
    },
  },
  {
    clause: "WV-12",
    title: "answers neither call with a redirect",
    run: async (subject) => {
      const step = await subject.stamp();
      const answers = [
        await subject.prefill(step),
        await subject.deliver(step, await makePack(step)),
      ];
      for (const answer of answers) {
        const redirects = answer.status >= 300 && answer.status < 400;
        if (redirects) throw new Mismatch("no redirect", describeAnswer(answer));
      }
    },
  },
  {
    clause: "WV-2",
    title: "looks a step up in any case",
    run: async (subject) => {
      const step = await subject.stamp();
      const options = { step: step.step.toUpperCase() };
      expectStatus(await subject.prefill(step, options), 200);
      expectStatus(await subject.deliver(step, await makePack(step), options), 201);
    },
  },
  {
    clause: "WV-3",
    title: "takes both calls for a step in a loop's body",
    run: async (subject) => {
      const step = await subject.stamp("loop");
      expectStatus(await subject.prefill(step), 200);
      expectStatus(await subject.deliver(step, await makePack(step, { values: { a: "1" } })), 201);
    },
  },
  accepts("WV-11", "a pack without values", () => ({})),
  accepts("WV-11", "a pack that comes before any prefill was fetched", () => ({
    values: { a: "1" },
  })),
  accepts("WV-2", "the longest key: eight segments of 64 characters", ({ step }) => {
    const own = step.split(".").length;
    const key = Array.from({ length: maxSegments - own }, () => "k".repeat(64)).join(".");
    return { values: { [key]: "1" } };
  }),
  accepts("WV-2", "a leaf and a folder of one name, which letters tell apart", () => ({
    values: { a: "1", "a.b": "2" },
  })),
  accepts("WV-5", "a value of exactly max_value_bytes", ({ limits }) => ({
    values: { a: "x".repeat(Math.min(limits.max_value_bytes, limits.max_step_bytes)) },
  })),
  accepts("WV-5", "values of exactly max_step_bytes together", ({ limits }) => {
    const values = fillStep(limits, limits.max_step_bytes);
    if (values === undefined) throw new Skipped("max_step_files is too small for that");
    return { values };
  }),
  accepts("WV-5", "exactly max_step_files values", ({ limits }) => ({
    values: emptyValues(limits.max_step_files),
  })),
  accepts("API-pack", "members of pack.json that it does not know", () => ({
    manifest: { later: { a: 1 } },
  })),
  accepts("WV-11", "a pack that lists what the sidecar left out, and counts the rest", () => ({
    values: { a: "1" },
    manifest: {
      rejected: [
        { code: "invalid_output_key", path: "b\\xff" },
        { code: "value_too_large", path: "C", key: "c", size: 2, limit: 1 },
      ],
      skipped: [{ code: "skipped_symlink", path: "D" }],
      more: { skipped_fifo: 7 },
    },
  })),
];

function accepts(
  clause: Check["clause"],
  what: string,
  specOf: (step: FreshStep) => PackSpec,
): Check {
  return {
    clause,
    title: `accepts ${what}`,
    run: async (subject: Subject) => {
      const step = await subject.stamp();
      expectStatus(await subject.deliver(step, await makePack(step, specOf(step))), 201);
    },
  };
}

function hash(body: Buffer): string {
  return createHash("sha256").update(body).digest("hex");
}

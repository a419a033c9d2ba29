import { createHash } from "node:crypto";
import { formatContentDigest } from "../../../contract/tar-feed.ts";
import { TarError } from "../../../contract/tar-guard.ts";
import { Mismatch, type Check } from "../check.ts";
import { describeAnswer, expectEqual, expectStatus } from "../expectations.ts";
import { readTar } from "../read-prefill.ts";
import { fetchSample } from "../sample-prefill.ts";

/** The answer that brings a prefill: headers, digest and tar (API page, Fetch the prefill). */
export const prefillAnswerChecks: readonly Check[] = [
  {
    clause: "API-prefill",
    title: "answers 200 with application/x-tar",
    run: async (subject) => {
      const { answer } = await fetchSample(subject);
      expectStatus(answer, 200);
      expectEqual("Content-Type", answer.headers["content-type"], "application/x-tar");
    },
  },
  {
    clause: "API-prefill",
    title: "announces the length of the body",
    run: async (subject) => {
      const { answer } = await fetchSample(subject);
      expectEqual("Content-Length", answer.headers["content-length"], String(answer.body.length));
    },
  },
  {
    clause: "API-prefill",
    title: "announces the SHA-256 of the body, and no other digest",
    run: async (subject) => {
      const { answer } = await fetchSample(subject);
      const digest = formatContentDigest(createHash("sha256").update(answer.body).digest());
      expectEqual("Content-Digest", answer.headers["content-digest"], digest);
    },
  },
  {
    clause: "API-prefill",
    title: "gives the same instance the same bytes again",
    run: async (subject) => {
      const { step, answer } = await fetchSample(subject);
      const again = await subject.prefill(step);
      expectStatus(again, answer.status);
      if (!again.body.equals(answer.body)) throw new Mismatch("the same bytes", "other bytes");
    },
  },
  {
    clause: "API-tar",
    title: "sends plain files and folders in ustar, two end blocks and nothing behind them",
    run: async (subject) => {
      const { answer } = await fetchSample(subject);
      if (answer.status !== 200) throw new Mismatch("a tar", describeAnswer(answer));
      try {
        await readTar(answer.body);
      } catch (error) {
        if (error instanceof TarError) throw new Mismatch("such a tar", error.message);
        throw error;
      }
    },
  },
];

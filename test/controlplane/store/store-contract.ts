import { createHash, randomUUID } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { defaultLimits } from "../../../contract/limits.ts";
import {
  inputsStep,
  type AcceptedPack,
  type Cause,
  type NewRun,
  type NewStep,
  type NewValue,
  type Receipt,
  type Store,
} from "../../../controlplane/store/store.ts";

const at = "2026-12-01T00:00:00.000Z";
const later = "2026-12-02T00:00:00.000Z";
const undelivered: Cause = { code: "undelivered", message: "nothing came" };
const receipt: Receipt = { accepted: 1, warnings: [], status: "succeeded", cause: null };

function value(key: string, text: string): NewValue {
  const bytes = Buffer.from(text);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { key, bytes, sha256, kind: "text" };
}

function newRun(run: string, more: Partial<NewRun> = {}): NewRun {
  const inputs = [value("workflow.run-id", run)];
  const limits = defaultLimits;
  const base = { run, template: "t", requestSha256: "r", limits, missingOutput: "warn" } as const;
  return { ...base, createdAt: at, inputs, ...more };
}

function newStep(run: string, step: string, more: Partial<NewStep> = {}): NewStep {
  const base = { run, step, attempt: undefined, requestSha256: "s", dependsOn: [], outputs: [] };
  return { ...base, deadline: at, leaseEndsAt: later, stampedAt: at, ...more };
}

function pack(run: string, step: string, more: Partial<AcceptedPack> = {}): AcceptedPack {
  const values = [value(`${step}.v`, `of ${step}`)];
  const base = { run, step, attempt: 1, instance: "pod", sha256: "p", acceptedAt: at };
  return { ...base, manifest: "{}", values, receipt, ...more };
}

/** What every store does (API page, Store), against a real database that `open` gives. */
export function describeStore(name: string, open: () => Promise<Store>): void {
  async function opened(): Promise<{ store: Store; run: string }> {
    const store = await open();
    onTestFinished(() => store.close());
    const run = `run-${randomUUID()}`;
    await store.createRun(newRun(run));
    return { store, run };
  }

  describe(`runs in ${name}`, () => {
    it("are made once with their inputs", async () => {
      const { store, run } = await opened();
      expect(await store.createRun(newRun(run))).toBe("same");
      expect(await store.createRun(newRun(run, { requestSha256: "other" }))).toBe("different");
      const { inputs, ...record } = newRun(run);
      expect(await store.getRun(run)).toEqual(record);
      expect(await store.getRun("nope")).toBeUndefined();
      expect(await store.listValues(run, [inputsStep])).toMatchObject([
        { key: "workflow.run-id", size: inputs[0]?.bytes.length, step: inputsStep, attempt: 0 },
      ]);
    });

    it("are made once also by many at the same time", async () => {
      const { store } = await opened();
      const run = `run-${randomUUID()}`;
      const results = await Promise.all(
        Array.from({ length: 12 }, () => store.createRun(newRun(run))),
      );
      expect(results.filter((result) => result === "created")).toHaveLength(1);
      expect(results.filter((result) => result === "same")).toHaveLength(11);
      expect(await store.listEvents(run, { limit: 10, after: 0 })).toHaveLength(1);
    });

    it("are listed newest first, page by page", async () => {
      const { store } = await opened();
      const made = ["a", "b", "c"].map((id) => `run-${id}-${randomUUID()}`);
      for (const run of made) await store.createRun(newRun(run));
      const first = await store.listRuns({ limit: 2, after: undefined });
      expect(first?.map(({ run }) => run)).toEqual([made[2], made[1]]);
      const second = await store.listRuns({ limit: 1, after: made[1] });
      expect(second?.map(({ run }) => run)).toEqual([made[0]]);
      expect(await store.listRuns({ limit: 1, after: "nope" })).toBeUndefined();
    });
  });

  describe(`steps in ${name}`, () => {
    it("are numbered by attempt, and the same stamp gives what there is", async () => {
      const { store, run } = await opened();
      const first = await store.stampStep(newStep(run, "judge"));
      const second = await store.stampStep(newStep(run, "judge"));
      expect([first, second]).toMatchObject([
        { result: "created", step: { attempt: 1, instance: null, ended: null, accepted: null } },
        { result: "created", step: { attempt: 2 } },
      ]);
      const again = await store.stampStep(newStep(run, "judge", { attempt: 2 }));
      expect(again).toMatchObject({ result: "same", step: { attempt: 2 } });
      const other = newStep(run, "judge", { attempt: 2, requestSha256: "o" });
      expect(await store.stampStep(other)).toMatchObject({ result: "different" });
      expect(await store.stampStep(newStep(run, "judge", { attempt: 9 }))).toMatchObject({
        result: "created",
      });
      expect(await store.stampStep(newStep(run, "judge", { attempt: 5 }))).toEqual({
        result: "superseded",
        newest: 9,
      });
      expect(await store.stampStep(newStep("nope", "judge"))).toEqual({ result: "no_run" });
      await store.stampStep(newStep(run, "judge", { attempt: 1_000_000 }));
      expect(await store.stampStep(newStep(run, "judge"))).toEqual({ result: "exhausted" });
    });

    it("get attempts of their own when many stamp at the same time", async () => {
      const { store, run } = await opened();
      const stampings = await Promise.all(
        Array.from({ length: 12 }, () => store.stampStep(newStep(run, "judge"))),
      );
      const attempts = stampings.map((each) => ("step" in each ? each.step.attempt : 0));
      expect(attempts.toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 12 }, (_, i) => i + 1),
      );
    });

    it("are read back whole, and listed in order of stamping", async () => {
      const { store, run } = await opened();
      const outputs = [
        { key: "verdict", kind: "choice", options: ["a"], required: false },
      ] as const;
      const step = newStep(run, "z", { dependsOn: ["a", "l_1.b"], outputs });
      const stamped = await store.stampStep(step);
      await store.stampStep(newStep(run, "a"));
      await store.stampStep(newStep(run, "z"));
      const read = await store.getStep(run, "z", 1);
      expect(read).toEqual("step" in stamped ? stamped.step : undefined);
      const page = await store.listSteps(run, { limit: 2, after: undefined });
      expect(page.map((each) => [each.step, each.attempt])).toEqual([
        ["z", 1],
        ["a", 1],
      ]);
      const rest = await store.listSteps(run, { limit: 2, after: page[1]?.seq });
      expect(rest.map((each) => [each.step, each.attempt])).toEqual([["z", 2]]);
      expect(await store.getStep(run, "z", 3)).toBeUndefined();
    });

    it("of a loop are found by its id, and no other's", async () => {
      const { store, run } = await opened();
      const paths = ["loop_1.a", "loop_10.b", "loop_2.a", "loop-x_1.a", "loop", "loopy_1.a"];
      for (const path of paths) await store.stampStep(newStep(run, path));
      const found = await store.listStepPaths(run, "loop");
      expect(found.toSorted()).toEqual(["loop_1.a", "loop_10.b", "loop_2.a"]);
    });
  });

  describe(`an attempt in ${name}`, () => {
    it("belongs to the first instance, and only the newest can be claimed", async () => {
      const { store, run } = await opened();
      await store.stampStep(newStep(run, "judge"));
      const claims = await Promise.all(
        ["one", "two", "three"].map((pod) => store.claimStep(run, "judge", 1, pod, at)),
      );
      expect(claims.toSorted()).toEqual(["claimed", "stale_instance", "stale_instance"]);
      await store.stampStep(newStep(run, "judge"));
      expect(await store.claimStep(run, "judge", 1, "one", at)).toBe("stale_attempt");
      expect(await store.claimStep(run, "judge", 2, "one", at)).toBe("claimed");
      expect(await store.claimStep(run, "judge", 2, "one", at)).toBe("claimed");
      const events = await store.listEvents(run, { limit: 100, after: 0 });
      expect(events.filter(({ type }) => type === "step_claimed")).toHaveLength(2);
    });

    it("takes one pack, once, whole", async () => {
      const { store, run } = await opened();
      await store.stampStep(newStep(run, "judge"));
      const results = await Promise.all(
        Array.from({ length: 8 }, () => store.acceptPack(pack(run, "judge"))),
      );
      expect(results.filter(({ result }) => result === "accepted")).toHaveLength(1);
      expect(results.filter(({ result }) => result === "same")).toHaveLength(7);
      expect(await store.acceptPack(pack(run, "judge", { sha256: "q" }))).toEqual({
        result: "already_packed",
        sha256: "p",
        receipt,
      });
      expect(await store.acceptPack(pack(run, "judge", { instance: "x" }))).toEqual({
        result: "stale_instance",
      });
      expect(await store.getStep(run, "judge", 1)).toMatchObject({
        instance: "pod",
        ended: { at, status: "succeeded", cause: null },
        accepted: { sha256: "p", receipt },
      });
      expect(await store.listValues(run, ["judge"])).toHaveLength(1);
    });

    it("stores nothing of a pack that cannot be stored whole", async () => {
      const { store, run } = await opened();
      await store.stampStep(newStep(run, "judge"));
      const bad = { ...value("judge.w", "x"), kind: null } as unknown as NewValue;
      const values = [value("judge.v", "only here"), bad];
      await expect(store.acceptPack(pack(run, "judge", { values }))).rejects.toThrow();
      expect(await store.listValues(run, ["judge"])).toEqual([]);
      expect(await store.getContent(values[0]?.sha256 ?? "")).toBeUndefined();
      expect((await store.getStep(run, "judge", 1))?.instance).toBeNull();
      expect(await store.acceptPack(pack(run, "judge"))).toEqual({ result: "accepted" });
    });

    it("is ended past its lease, and takes nothing then", async () => {
      const { store, run } = await opened();
      await store.stampStep(newStep(run, "judge", { leaseEndsAt: at }));
      await store.stampStep(newStep(run, "other", { leaseEndsAt: later }));
      await store.stampStep(newStep(run, "packed", { leaseEndsAt: at }));
      await store.acceptPack(pack(run, "packed"));
      const before = await store.countOpenSteps();
      const ended = await Promise.all([
        store.endOverdue(at, undelivered, 100),
        store.endOverdue(at, undelivered, 100),
      ]);
      expect(ended.flat().filter((each) => each.run === run)).toEqual([
        { run, step: "judge", attempt: 1 },
      ]);
      expect(await store.countOpenSteps()).toBeLessThan(before);
      expect(await store.getStep(run, "judge", 1)).toMatchObject({
        ended: { at, status: "failed", cause: undelivered },
        accepted: null,
      });
      expect(await store.claimStep(run, "judge", 1, "pod", at)).toBe("ended");
      expect(await store.acceptPack(pack(run, "judge"))).toEqual({ result: "ended" });
      const [last] = (await store.listEvents(run, { limit: 100, after: 0 })).slice(-1);
      expect(last).toMatchObject({
        type: "step_ended",
        data: { step: "judge", status: "failed", cause: undelivered, accepted: 0 },
      });
    });
  });

  describe(`values in ${name}`, () => {
    it("are the newest accepted attempt's, sorted by key in bytes", async () => {
      const { store, run } = await opened();
      await store.stampStep(newStep(run, "judge"));
      const values = ["judge.b", "judge.a-b", "judge.a.b", "judge.a_b", "judge.a0"].map((key) =>
        value(key, "one"),
      );
      await store.acceptPack(pack(run, "judge", { values }));
      await store.stampStep(newStep(run, "judge"));
      const seen = await store.listValues(run, ["judge"]);
      const sorted = ["judge.a-b", "judge.a.b", "judge.a0", "judge.a_b", "judge.b"];
      expect(seen.map(({ key, attempt }) => [key, attempt])).toEqual(sorted.map((key) => [key, 1]));
      const two = [value("judge.z", "two")];
      await store.acceptPack(pack(run, "judge", { attempt: 2, values: two }));
      expect(await store.listValues(run, ["judge"])).toMatchObject([
        { key: "judge.z", attempt: 2, setAt: at, kind: "text", step: "judge" },
      ]);
      expect(await store.listValues(run, ["other"])).toEqual([]);
      expect(await store.listValues(run, [])).toEqual([]);
    });

    it("are listed by prefix, page by page", async () => {
      const { store, run } = await opened();
      for (const step of ["judge", "judge-2", "plan"]) {
        await store.stampStep(newStep(run, step));
        const values = ["a", "b", "c"].map((key) => value(`${step}.${key}`, "1"));
        await store.acceptPack(pack(run, step, { values }));
      }
      const keys = async (prefix: string, limit: number, after?: string) =>
        (await store.listKeys(run, { prefix, limit, after })).map(({ key }) => key);
      expect(await keys("judge.", 10)).toEqual(["judge.a", "judge.b", "judge.c"]);
      expect(await keys("judge", 4)).toEqual(["judge-2.a", "judge-2.b", "judge-2.c", "judge.a"]);
      expect(await keys("judge", 4, "judge.a")).toEqual(["judge.b", "judge.c"]);
      expect(await keys("", 100)).toHaveLength(10);
      expect(await keys("%", 100)).toEqual([]);
    });

    it("keep every byte, and equal ones are stored once", async () => {
      const { store, run } = await opened();
      const bytes = Buffer.concat([
        Buffer.from("\0\r\n\u{1f600} "),
        Buffer.alloc(3 * 1024 ** 2, 0x61),
      ]);
      const large = { ...value("judge.v", ""), bytes, sha256: "f".repeat(64) };
      await store.stampStep(newStep(run, "judge"));
      await store.acceptPack(pack(run, "judge", { values: [large, { ...large, key: "judge.w" }] }));
      expect((await store.getContent(large.sha256))?.equals(bytes)).toBe(true);
      expect(await store.getContent("0")).toBeUndefined();
    });

    it("may be 4096 in one pack", async () => {
      const { store, run } = await opened();
      await store.stampStep(newStep(run, "judge"));
      const values = Array.from({ length: 4096 }, (_, i) =>
        value(`judge.k${String(i)}`, String(i)),
      );
      await store.acceptPack(pack(run, "judge", { values }));
      expect(await store.listValues(run, ["judge"])).toHaveLength(4096);
    });
  });

  describe(`events in ${name}`, () => {
    it("have numbers without gaps, whoever adds them", async () => {
      const { store, run } = await opened();
      const steps = Array.from({ length: 10 }, (_, i) => `s${String(i)}`);
      await Promise.all(steps.map((step) => store.stampStep(newStep(run, step))));
      await Promise.all(steps.map((step) => store.acceptPack(pack(run, step))));
      const events = await store.listEvents(run, { limit: 100, after: 0 });
      expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 31 }, (_, i) => i + 1));
      expect(events[0]).toEqual({ seq: 1, at, type: "run_created", data: { template: "t" } });
      const rest = await store.listEvents(run, { limit: 2, after: 28 });
      expect(rest.map(({ seq }) => seq)).toEqual([29, 30]);
    });
  });

  describe(`old runs in ${name}`, () => {
    it("are removed whole, with what nobody else has", async () => {
      const { store, run } = await opened();
      const shared = value("judge.shared", `shared ${run}`);
      const own = value("judge.own", `own ${run}`);
      const other = `run-${randomUUID()}`;
      await store.createRun(newRun(other, { createdAt: later }));
      for (const [which, values, acceptedAt] of [
        [run, [shared, own], at],
        [other, [shared], later],
      ] as const) {
        await store.stampStep(newStep(which, "judge", { stampedAt: acceptedAt }));
        await store.acceptPack(pack(which, "judge", { values, acceptedAt }));
      }
      expect(await store.removeRuns(at, 1000)).toBe(0);
      expect(await store.removeRuns("2026-12-01T12:00:00.000Z", 1000)).toBeGreaterThan(0);
      expect(await store.getRun(run)).toBeUndefined();
      expect(await store.getStep(run, "judge", 1)).toBeUndefined();
      expect(await store.listEvents(run, { limit: 1, after: 0 })).toEqual([]);
      expect(await store.getContent(own.sha256)).toBeUndefined();
      expect((await store.getContent(shared.sha256))?.toString()).toBe(`shared ${run}`);
      expect(await store.getRun(other)).toBeDefined();
    });

    it("stay while a step is open", async () => {
      const { store, run } = await opened();
      await store.stampStep(newStep(run, "judge"));
      await store.removeRuns("2027-01-01T00:00:00.000Z", 1000);
      expect(await store.getRun(run)).toBeDefined();
    });
  });
}

import { createHash } from "node:crypto";
import { Mismatch, Skipped, type Check } from "../check.ts";
import { expectEqual, expectStatus } from "../expectations.ts";
import type { FreshStep } from "../fixture.ts";
import { makePack, type PackSpec } from "../make-pack.ts";
import { fetchVisible } from "../read-prefill.ts";
import type { Subject } from "../subject.ts";

/** Bytes that careless code changes. */
const exactValues: Readonly<Record<string, Buffer>> = {
  bom: Buffer.from("\u{feff}marked"),
  control: Buffer.from("\u0000\u001b[0m\u007f"),
  crlf: Buffer.from("one\r\ntwo\r"),
  empty: Buffer.alloc(0),
  lf: Buffer.from("line\n"),
  "nested.deep.er": Buffer.from("four bytes: \u{1f600}"),
  plain: Buffer.from(" no line end "),
};

/** What a step may see of the run and of other steps, byte for byte (WV-4, WV-8, WV-9). */
export const visibilityChecks: readonly Check[] = [
  {
    clause: "WV-8",
    title: "brings the run's id and its template",
    run: async (subject) => {
      const step = await subject.stamp();
      const { values } = await fetchVisible(subject, step);
      expectEqual("workflow.run-id", values.get("workflow.run-id")?.toString(), step.run);
      if (!values.has("workflow.template")) throw new Mismatch("workflow.template", "none");
    },
  },
  {
    clause: "WV-8",
    title: "brings every step of a run the same inputs",
    run: async (subject) => {
      const first = await subject.stamp();
      const next = await subject.stamp("next", first);
      const [one, other] = [await inputsOf(subject, first), await inputsOf(subject, next)];
      expectEqual("inputs", other, one);
    },
  },
  {
    clause: "WV-9",
    title: "brings what the fixture says is visible",
    run: async (subject) => {
      const step = await subject.stamp();
      if (step.visible === undefined) throw new Skipped("the fixture does not give `visible`");
      const { values } = await fetchVisible(subject, step);
      for (const [key, sha256] of Object.entries(step.visible)) {
        const bytes = values.get(key);
        expectEqual(`${key} with SHA-256`, bytes === undefined ? null : hash(bytes), sha256);
      }
    },
  },
  {
    clause: "WV-4",
    title: "gives values back byte for byte: empty, NUL, CRLF, byte order mark, no line end",
    run: async (subject) => {
      const first = await deliverStep(subject, { values: exactValues });
      const { values } = await fetchVisible(subject, await subject.stamp("next", first));
      for (const [key, bytes] of Object.entries(exactValues)) {
        const seen = values.get(`${first.step}.${key}`)?.toString("hex") ?? null;
        expectEqual(`${key} in hex`, seen, bytes.toString("hex"));
      }
    },
  },
  {
    clause: "WV-9",
    title: "shows a direct dependency, and not the one behind it",
    run: async (subject) => {
      const first = await deliverStep(subject, { values: { a: "1" } });
      const second = await subject.stamp("next", first);
      await deliver(subject, second, { values: { b: "2" } });
      const third = await subject.stamp("next", second);
      expectEqual("keys", await keysSeen(subject, third), [`${second.step}.b`]);
    },
  },
  {
    clause: "WV-9",
    title: "shows a dependency without values as an empty folder",
    run: async (subject) => {
      const first = await deliverStep(subject, {});
      const { folders } = await fetchVisible(subject, await subject.stamp("next", first));
      if (!folders.has(first.step)) throw new Mismatch(`the folder ${first.step}`, "none");
    },
  },
  {
    clause: "WV-9",
    title: "shows the values of a step that failed",
    run: async (subject) => {
      const completion = { by: "lost", marker: null };
      const first = await deliverStep(subject, { values: { a: "1" }, manifest: { completion } });
      const next = await subject.stamp("next", first);
      expectEqual("keys", await keysSeen(subject, next), [`${first.step}.a`]);
    },
  },
  {
    clause: "WV-9",
    title: "shows of a step that ran again the newest attempt's values alone",
    run: async (subject) => {
      const first = await deliverStep(subject, { values: { gone: "1" } });
      const retry = await subject.stamp("retry", first);
      await deliver(subject, retry, { values: { stays: "2" } });
      const next = await subject.stamp("next", retry);
      expectEqual("keys", await keysSeen(subject, next), [`${first.step}.stays`]);
    },
  },
  {
    clause: "WV-9",
    title: "shows in a loop what earlier iterations left",
    run: async (subject) => {
      const first = await subject.stamp("loop");
      await deliver(subject, first, { values: { a: "1" } });
      const second = await subject.stamp("iterate", first);
      expectEqual("keys", await keysSeen(subject, second), [`${first.step}.a`]);
    },
  },
];

async function deliverStep(subject: Subject, spec: PackSpec): Promise<FreshStep> {
  const step = await subject.stamp();
  await deliver(subject, step, spec);
  return step;
}

async function deliver(subject: Subject, step: FreshStep, spec: PackSpec): Promise<void> {
  expectStatus(await subject.deliver(step, await makePack(step, spec)), 201);
}

/** All but the inputs and the dotfiles. */
async function keysSeen(subject: Subject, step: FreshStep): Promise<readonly string[]> {
  const { values } = await fetchVisible(subject, step);
  return [...values.keys()].filter((key) => !/^(workflow)?\./.test(key)).toSorted();
}

async function inputsOf(subject: Subject, step: FreshStep): Promise<object> {
  const { values } = await fetchVisible(subject, step);
  const inputs = [...values].filter(([key]) => key.startsWith("workflow."));
  return Object.fromEntries(inputs.map(([key, bytes]) => [key, hash(bytes)]));
}

function hash(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

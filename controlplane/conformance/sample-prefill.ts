import { Skipped } from "./check.ts";
import type { FreshStep } from "./fixture.ts";
import { makePack } from "./make-pack.ts";
import { readPrefill, type PrefillEntry } from "./read-prefill.ts";
import type { Answer, Subject } from "./subject.ts";

export interface Sample {
  readonly step: FreshStep;
  readonly answer: Answer;
}

const samples = new WeakMap<Subject, Promise<Sample>>();

/** One prefill for all of these checks, which only look at it: with values in it where the fixture can make such. */
export async function fetchSample(subject: Subject): Promise<Sample> {
  const known = samples.get(subject);
  if (known !== undefined) return known;
  const fetching = makeSample(subject);
  samples.set(subject, fetching);
  return fetching;
}

async function makeSample(subject: Subject): Promise<Sample> {
  const first = await subject.stamp();
  const values = { "1": "one", "findings.high": "[]", verdict: "approve" };
  await subject.deliver(first, await makePack(first, { values }));
  const step = await subject.stamp("next", first).catch((error: unknown) => {
    if (error instanceof Skipped) return subject.stamp();
    throw error;
  });
  return { step, answer: await subject.prefill(step) };
}

/** The entries of that prefill; Skipped where it cannot be read. */
export async function fetchEntries(subject: Subject): Promise<readonly PrefillEntry[]> {
  const { answer } = await fetchSample(subject);
  return readPrefill(answer);
}

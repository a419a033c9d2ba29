import * as z from "zod";
import { rootFiles } from "../../../contract/layout.ts";
import { attempt, declaredOutput, limits, runId, stepPath } from "../../../contract/wire.ts";
import { Mismatch, Skipped, type Check } from "../check.ts";
import { expectEqual } from "../expectations.ts";
import { readPrefill, type PrefillEntry } from "../read-prefill.ts";
import { fetchEntries, fetchSample } from "../sample-prefill.ts";
import type { Subject } from "../subject.ts";

const stepFile = z.object({
  version: z.int().min(1),
  run: runId,
  step: stepPath,
  attempt,
  limits,
  outputs: z.array(declaredOutput),
});

/** `.step`: what the step is told of itself (WV-1). */
export const stepFileChecks: readonly Check[] = [
  {
    clause: "WV-1",
    title: "says in .step which run, step and attempt this is",
    run: async (subject) => {
      const { step } = await fetchSample(subject);
      const file = await fetchStepFile(subject);
      expectEqual(
        "run, step and attempt",
        [file.run, file.step, file.attempt],
        [step.run, step.step, step.attempt],
      );
    },
  },
  {
    clause: "WV-5",
    title: "says in .step which limits hold",
    run: async (subject) => {
      const { step } = await fetchSample(subject);
      expectEqual("limits", (await fetchStepFile(subject)).limits, step.limits);
    },
  },
  {
    clause: "WV-10",
    title: "says in .step which outputs are declared",
    run: async (subject) => {
      const step = await subject.stamp();
      if (step.outputs === undefined) throw new Skipped("the fixture does not give `outputs`");
      const entries = await readPrefill(await subject.prefill(step));
      expectEqual("outputs", parseStepFile(entries).outputs, step.outputs);
    },
  },
];

async function fetchStepFile(subject: Subject): Promise<z.infer<typeof stepFile>> {
  return parseStepFile(await fetchEntries(subject));
}

function parseStepFile(entries: readonly PrefillEntry[]): z.infer<typeof stepFile> {
  const bytes = entries.find(({ name }) => name === rootFiles.step)?.bytes;
  if (bytes === undefined) throw new Mismatch("the file .step", "none");
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString());
  } catch {
    throw new Mismatch("JSON in .step", "something else");
  }
  const parsed = stepFile.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Mismatch(
    "the .step of WV-1",
    `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`,
  );
}

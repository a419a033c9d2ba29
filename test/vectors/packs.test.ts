import { beforeAll, describe, expect, it } from "vitest";
import { packVectorFiles, manifestOf, sentOf, type PackVector } from "./pack-vector.ts";
import { readInJavaScript, readInPython, type PackOutcome } from "./read-sent-packs.ts";
import { bytesOf } from "./vector.ts";

const files = packVectorFiles();
const inPython = new Map<PackVector, PackOutcome>();

beforeAll(() => {
  const vectors = files.flatMap(({ cases }) => cases);
  const outcomes = readInPython(vectors.map(sentOf));
  for (const [i, vector] of vectors.entries()) {
    const outcome = outcomes[i];
    if (outcome !== undefined) inPython.set(vector, outcome);
  }
});

/** For `it.each`, which would cut a name that it takes from an object. */
function titled(cases: readonly PackVector[]): [title: string, vector: PackVector][] {
  return cases.map((vector) => [`${vector.name} (${vector.clause})`, vector]);
}

function expectOutcome(outcome: PackOutcome | undefined, vector: PackVector): void {
  const { code, status, field = "", values = {}, holds = values, receipt = {}, reads } = vector;
  if (code !== undefined) {
    expect(outcome).toMatchObject({ code, status, detail: expect.stringMatching(/^[ -~]+$/) });
    expect(outcome && "detail" in outcome && outcome.detail.slice(0, field.length)).toBe(field);
    return;
  }
  const expected = Object.entries({ ...manifestOf(vector), ...reads }).filter(
    ([, member]) => member !== null,
  );
  const bytes = Object.entries(holds).map(([key, value]) => [
    key,
    bytesOf(value, "").toString("base64"),
  ]);
  expect(outcome).toMatchObject({ receipt });
  expect(outcome).toEqual({
    manifest: Object.fromEntries(expected),
    values: Object.fromEntries(bytes),
    receipt: expect.objectContaining({ accepted: bytes.length }),
  });
}

describe.each(files)("packs, $name", ({ cases }) => {
  it.each(titled(cases))("%s", async (_title, vector) => {
    const inJavaScript = await readInJavaScript(sentOf(vector));
    expectOutcome(inJavaScript, vector);
    expectOutcome(inPython.get(vector), vector);
    if (!("code" in inJavaScript)) expect(inPython.get(vector)).toEqual(inJavaScript);
  });
});

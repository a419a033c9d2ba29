import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dist } from "../support/dist.ts";
import { pythonKit } from "../support/python-kit.ts";
import { faultsOf } from "./command-line.ts";
import { commandLineVectors, runCommandLines, type Run } from "./run-command-lines.ts";
import { titled, type Vector } from "./vector.ts";

type Language = "JavaScript" | "Python";

const languages = ["JavaScript", "Python"] as const;
const files = commandLineVectors();
const runs = { JavaScript: new Map<Vector, Run>(), Python: new Map<Vector, Run>() };

/** Every process first, a few at a time: a test for each would wait for one after the other. */
beforeAll(async () => {
  using kit = pythonKit();
  const programs: Record<Language, readonly string[]> = {
    JavaScript: [process.execPath, join(dist, "agent", "lib", "wfvar.cjs")],
    Python: [kit.python, "-ISE", kit.main],
  };
  for (const language of languages) {
    runs[language] = await runCommandLines(programs[language], files);
  }
}, 300_000);

afterAll(() => {
  for (const language of languages) runs[language].clear();
});

describe.each(languages)("%s command line", (language) => {
  describe.each(files)("$name", ({ cases }) => {
    it.for(titled(cases))("%s", ([, vector], { skip }) => {
      const ran = runs[language].get(vector);
      skip(vector.unprivileged === true && ran === undefined, "only root may run this interpreter");
      expect(ran && faultsOf(vector, ran.answer)).toEqual([]);
      expect(ran?.after).toEqual(ran?.expected);
      // Word for word, where the vector gives no words as well.
      expect(ran?.answer).toEqual(runs.JavaScript.get(vector)?.answer);
    });
  });
});

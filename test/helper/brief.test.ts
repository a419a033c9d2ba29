import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { formatBrief } from "../../helper/brief.ts";
import { checkStep } from "../../helper/check/check-step.ts";
import { loadValue } from "../../helper/load.ts";
import { withStep } from "../../helper/step.ts";
import { variablesFolder, type VariablesFolder } from "./variables-folder.ts";
import { runWfvar, wfvarKit } from "./wfvar-bundle.ts";

const kit = wfvarKit();
afterAll(() => {
  kit[Symbol.dispose]();
});

const brief = ({ env }: VariablesFolder): string => withStep(env, formatBrief);

function declare(folder: VariablesFolder, stepFile: Readonly<Record<string, unknown>>): void {
  writeFileSync(join(folder.root, ".step"), JSON.stringify({ version: 1, ...stepFile }));
}

/** The lines of the section with that heading. */
function section(text: string, heading: string): string[] {
  const [, after = ""] = text.split(`## ${heading}\n\n`);
  const [body = ""] = after.split("\n\n## ");
  return body.trim().split("\n");
}

describe("the brief (WV-14)", () => {
  it("says who it is, from .step and the folder", () => {
    using folder = variablesFolder("fix_2/judge");
    declare(folder, { run: "r-1", attempt: 2 });
    expect(brief(folder)).toMatch(/^# Workflow step `fix_2\.judge`\n/);
    expect(brief(folder)).toContain("of run `r-1`, attempt 2.");
    expect(brief(folder)).toContain(`\`${folder.self}\``);
  });

  it.each([[{}], [{ run: "a b", attempt: 0 }], [{ run: 7, attempt: "1" }]])(
    "leaves out what .step does not say or says wrongly: %j",
    (stepFile) => {
      using folder = variablesFolder();
      declare(folder, stepFile);
      expect(brief(folder)).toContain("You are step `judge`. Values");
    },
  );

  it("lists what can be read, with sizes and without values, and all of it can be loaded", () => {
    using folder = variablesFolder("judge", [
      "judge/VERDICT=s3cret",
      "judge/judge/x=s",
      "plan/SUMMARY=s3cret!",
      "workflow/item.title=",
    ]);
    expect(section(brief(folder), "What you can read now")).toEqual([
      "- `judge.judge.x`: 1 byte, your own",
      "- `plan.summary`: 7 bytes",
      "- `verdict`: 6 bytes, your own",
      "- `workflow.item.title`: 0 bytes",
    ]);
    for (const [, key = ""] of brief(folder).matchAll(/^- `(.+)`: \d+ byte/gm))
      expect(loadValue(folder.env, key)).toBeDefined();
    expect(brief(folder)).not.toContain("s3cret");
  });

  it("lists a hundred keys and counts the rest", () => {
    using folder = variablesFolder();
    for (let n = 0; n < 103; n += 1) writeFileSync(join(folder.self, `K${String(n)}`), "");
    const lines = section(brief(folder), "What you can read now");
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toBe("- and 3 more: `wfvar list --all`");
  });

  it("says what must be handed off: kinds, options, and what is required (WV-10)", () => {
    using folder = variablesFolder();
    declare(folder, {
      outputs: [
        { key: "verdict", kind: "choice", options: ["approve", "re`vise", "a\nb", "``x`"] },
        { key: "findings.high", kind: "json", required: false },
        { key: "score", kind: "number", required: true },
        { key: "safe", kind: "bool" },
        { key: "route", kind: "choice" },
        { key: "report", kind: "text" },
      ],
    });
    expect(section(brief(folder), "What you must hand off")).toEqual([
      "- `verdict`, required: one of `approve`, `` re`vise ``, `a\\x0ab`, ``` ``x` ```",
      "- `findings.high`, if you have it: a JSON object or array",
      "- `score`, required: a number",
      "- `safe`, required: `true` or `false`",
      "- `route`, required: one line of text",
      "- `report`, required: text",
    ]);
  });

  it("names a file that is the key it says", () => {
    using folder = variablesFolder();
    declare(folder, { outputs: [{ key: "findings.high" }] });
    const [, path = "", key = ""] = /to `(.+?)` for the key `(.+?)`/.exec(brief(folder)) ?? [];
    expect(path.startsWith(`${folder.self}/`)).toBe(true);
    folder.add(`${path.slice(folder.root.length + 1)}=1`);
    expect(loadValue(folder.env, key).text).toBe("1");
    expect(withStep(folder.env, checkStep).ok).toBe(true);
  });

  it("gives the limits of .step", () => {
    using folder = variablesFolder("judge", [], { max_value_bytes: 77, max_step_files: 5 });
    expect(brief(folder)).toContain("at most 77 bytes, all together 16777216 in 5 files");
  });

  it("comes out of wfvar brief, and is short", () => {
    using folder = variablesFolder("judge", ["plan/SUMMARY=1"]);
    const { status, stdout, stderr } = runWfvar(kit, ["brief"], { env: folder.env });
    expect([status, stderr.toString()]).toEqual([0, ""]);
    expect(stdout.toString()).toBe(brief(folder));
    expect(stdout.length).toBeLessThan(2500);
    expect(runWfvar(kit, ["brief"], { env: { WORKFLOW_VARIABLES_ROOT: "/nowhere" } }).status).toBe(
      5,
    );
  });
});

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withStep, type Env } from "../../helper/step.ts";
import { codeOf } from "./code-of.ts";
import { openDescriptors } from "./open-descriptors.ts";
import { variablesFolder } from "./variables-folder.ts";

const stepIn = (env: Env): string => withStep(env, ({ path }) => path.text);

it("takes the own folder from .self where the variable is missing or empty (WV-1)", () => {
  using folder = variablesFolder("review-loop_2/judge");
  writeFileSync(join(folder.root, ".self"), folder.self);
  expect(stepIn({ WORKFLOW_VARIABLES_ROOT: folder.root })).toBe("review-loop_2.judge");
  expect(stepIn({ WORKFLOW_VARIABLES_ROOT: `${folder.root}//`, WORKFLOW_VARIABLES_SELF: "" })).toBe(
    "review-loop_2.judge",
  );
});

it("takes the variable before .self", () => {
  using folder = variablesFolder("judge", ["other/"]);
  writeFileSync(join(folder.root, ".self"), join(folder.root, "other"));
  expect(stepIn({ ...folder.env, WORKFLOW_VARIABLES_SELF: `${folder.self}/` })).toBe("judge");
});

it.each([
  ["an own folder that is not under the root", { WORKFLOW_VARIABLES_SELF: "/elsewhere/judge" }],
  ["no own folder at all", { WORKFLOW_VARIABLES_SELF: "" }],
  ["a relative root", { WORKFLOW_VARIABLES_ROOT: "variables" }],
  ["a relative own folder", { WORKFLOW_VARIABLES_SELF: "judge" }],
  [
    "a root that does not exist",
    { WORKFLOW_VARIABLES_ROOT: "/nonexistent", WORKFLOW_VARIABLES_SELF: "/nonexistent/judge" },
  ],
])("refuses %s as no_variables", (_name, env) => {
  using folder = variablesFolder();
  expect(codeOf(() => stepIn({ ...folder.env, ...env }))).toBe("no_variables");
});

it("refuses the root as own folder", () => {
  using folder = variablesFolder();
  expect(codeOf(() => stepIn({ ...folder.env, WORKFLOW_VARIABLES_SELF: folder.root }))).toBe(
    "no_variables",
  );
});

it("refuses an own folder that does not exist", () => {
  using folder = variablesFolder();
  rmSync(folder.self, { recursive: true });
  expect(codeOf(() => stepIn(folder.env))).toBe("no_variables");
});

it.each(["judge", "review-loop_2/judge"])(
  "refuses a link for the own folder %s (WV-11)",
  (step) => {
    using folder = variablesFolder(step, ["outside/judge/"]);
    const [first = ""] = step.split("/");
    rmSync(join(folder.root, first), { recursive: true });
    symlinkSync(
      join(folder.root, step === first ? "outside/judge" : "outside"),
      join(folder.root, first),
    );
    expect(codeOf(() => stepIn(folder.env))).toBe("unsafe_path");
  },
);

it("refuses a link for the root", () => {
  using folder = variablesFolder();
  const link = join(folder.root, "link");
  symlinkSync(folder.root, link);
  expect(
    codeOf(() =>
      stepIn({ WORKFLOW_VARIABLES_ROOT: `${link}/`, WORKFLOW_VARIABLES_SELF: `${link}/judge` }),
    ),
  ).toBe("unsafe_path");
});

it("refuses an own folder on another mount, which the pack would skip (WV-11)", () => {
  expect(
    codeOf(() => stepIn({ WORKFLOW_VARIABLES_ROOT: "/", WORKFLOW_VARIABLES_SELF: "/proc" })),
  ).toBe("unsafe_path");
});

it.each([
  ["no JSON", "{"],
  ["a list", "[]"],
  ["limits of a wrong type", '{"limits":{"max_value_bytes":"1"}}'],
])("falls back to the default limits where .step is %s", (_name, text) => {
  using folder = variablesFolder();
  writeFileSync(join(folder.root, ".step"), text);
  expect(withStep(folder.env, ({ limits }) => limits.max_value_bytes)).toBe(1024 ** 2);
});

it("does not read a link for .step", () => {
  using folder = variablesFolder("judge", ['judge/STEP={"limits":{"max_value_bytes":1}}']);
  rmSync(join(folder.root, ".step"));
  symlinkSync("judge/STEP", join(folder.root, ".step"));
  expect(withStep(folder.env, ({ limits }) => limits.max_value_bytes)).toBe(1024 ** 2);
});

it("leaves no descriptor open, whatever the callback does", () => {
  using folder = variablesFolder("review-loop_2/judge");
  mkdirSync(join(folder.self, "f"));
  const before = openDescriptors();
  stepIn(folder.env);
  expect(() =>
    withStep(folder.env, () => {
      throw new RangeError("mine");
    }),
  ).toThrow("unexpected failure");
  expect(openDescriptors()).toBe(before);
});

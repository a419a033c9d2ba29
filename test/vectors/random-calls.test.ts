import { array, constantFrom, oneof, record, sample, tuple, type Arbitrary } from "fast-check";
import { expect, it } from "vitest";
import { pythonKit } from "../support/python-kit.ts";
import { callElsewhere, callInJavaScript, pythonRunner, type Outcome } from "./library-call.ts";
import { snapshotOf, type Snapshot } from "./snapshot.ts";
import type { Node, Vector } from "./vector.ts";
import { makeVectorTree } from "./vector-tree.ts";

/** Few names, so that they collide, shadow and merge often. */
const name = oneof(
  { weight: 4, arbitrary: constantFrom("a", "A", "a", "A", "plan", "Plan") },
  {
    weight: 1,
    arbitrary: constantFrom("judge", "JUDGE", "workflow", "1", "x.y", "bad name", ".d"),
  },
);
const content = constantFrom<Node[]>("1", "22", "333", { base64: "/w==" }, { link: "plan" });
const path = oneof(
  { weight: 3, arbitrary: array(name, { minLength: 1, maxLength: 2 }) },
  { weight: 1, arbitrary: array(name, { minLength: 3, maxLength: 4 }) },
);
const entry = tuple(path, content);
const segment = oneof(
  { weight: 4, arbitrary: constantFrom("a", "a", "A", "plan") },
  { weight: 1, arbitrary: constantFrom("judge", "workflow", "1", "x", "y", "fix_1", "") },
);
const key = array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("."));
const limits = constantFrom(
  {},
  {},
  { max_value_bytes: 2 },
  { max_step_bytes: 4 },
  { max_step_files: 2 },
  { max_step_entries: 5 },
);
const call: Arbitrary<Pick<Vector, "load" | "save" | "keys">> = oneof(
  record({ load: tuple(key) }),
  record({ load: tuple(key, constantFrom("d")) }),
  record({ save: tuple(key, constantFrom("", "xyz")) }),
  record({ keys: constantFrom([] as const, [""] as const, ["plan."] as const) }),
);

const vector: Arbitrary<Vector> = record({
  step: constantFrom("judge", "fix_1/judge"),
  inOwn: array(entry, { maxLength: 8 }),
  beside: array(entry, { maxLength: 6 }),
  limits,
  call,
}).map(({ step, inOwn, beside, limits: given, call: made }) => {
  const before = new Map<string, Node>([[".step", JSON.stringify({ limits: given })]]);
  for (const [names, one] of inOwn) addTo(before, `${step}/${names.join("/")}`, one);
  for (const [names, one] of beside)
    if (!clash(names.join("/"), step)) addTo(before, names.join("/"), one);
  return { name: "random", clause: "WV-13", step, before: Object.fromEntries(before), ...made };
});

/** Leaves out what needs a file for a folder, or stands where one does. */
function addTo(tree: Map<string, Node>, where: string, what: Node): void {
  if (![...tree.keys()].some((other) => clash(where, other))) tree.set(where, what);
}

function clash(a: string, b: string): boolean {
  return `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);
}

interface Run {
  readonly outcome: Outcome;
  readonly after: Snapshot;
}

it(
  "JavaScript and Python give the same, say the same and leave the same, call by random call (WV-13)",
  { timeout: 120_000 },
  () => {
    using kit = pythonKit();
    const vectors = sample(vector, 800);
    const inJavaScript = vectors.map((one): Run => {
      const tree = makeVectorTree(one);
      const outcome = callInJavaScript(one, tree.env);
      const after = snapshotOf(tree.root);
      tree.remove();
      return { outcome, after };
    });
    const trees = vectors.map((one) => makeVectorTree(one));
    const calls = trees.map(({ env }, i) => ({ vector: vectors[i] ?? raise(), env }));
    const outcomes = callElsewhere(pythonRunner(kit), calls);
    const codes = new Set<string>();
    for (const [i, tree] of trees.entries()) {
      const outcome = outcomes[i] ?? raise();
      codes.add("code" in outcome ? outcome.code : "ok");
      const run: Run = { outcome, after: snapshotOf(tree.root) };
      tree.remove();
      expect(run, JSON.stringify(vectors[i])).toEqual(inJavaScript[i]);
    }
    // Else the trees were too tame to show a difference.
    expect([...codes]).toEqual(
      expect.arrayContaining(
        "ok not_found invalid_key ambiguous_key unsafe_path outside_own_step value_too_large step_entries_exceeded".split(
          " ",
        ),
      ),
    );
  },
);

function raise(): never {
  throw new RangeError("as many outcomes as calls");
}

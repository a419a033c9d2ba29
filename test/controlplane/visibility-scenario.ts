import {
  array,
  boolean,
  constant,
  constantFrom,
  nat,
  oneof,
  option,
  record,
  string,
  tuple,
  uniqueArray,
  type Arbitrary,
} from "fast-check";
import type { Output } from "./visibility-model.ts";

/** What may happen in a run, as data: few names, so that they meet often, and chosen to be mistaken for one another. */

/** Key below its owner to text. */
export type Texts = readonly (readonly [string, string])[];

/** How an agent ended. All of these packs are accepted. */
export type Ending = "succeeded" | "failed" | "terminated" | "no marker" | "lost" | "over a limit";

/** What is wrong with a pack. None of these is accepted. */
export type Fault = "another step's key" | "another instance" | "a wrong digest" | "not UTF-8";

export interface Delivery {
  readonly values: Texts;
  readonly ending: Ending;
  readonly fault: Fault | undefined;
}

export interface Stamp {
  readonly what: "stamp";
  readonly run: 0 | 1;
  readonly step: string;
  readonly dependsOn: readonly string[];
  /** How far the attempt is from the newest; undefined leaves the number to the control plane. */
  readonly jump: number | undefined;
  readonly outputs: readonly Output[];
  /** What its pod delivers at once. */
  readonly delivery: Delivery | undefined;
  /** Everything is spelled in uppercase. */
  readonly loud: boolean;
}

/** Something that the pod of an attempt does later; `which` counts through the attempts stamped so far. */
export type Later =
  | { readonly what: "deliver"; readonly which: number; readonly delivery: Delivery }
  | { readonly what: "look"; readonly which: number };

export interface Scenario {
  /** Of two runs whose ids differ in case alone. */
  readonly inputs: readonly [Inputs, Inputs];
  readonly events: readonly (Stamp | Later)[];
  readonly prefix: string;
}

export interface Inputs {
  readonly template: string;
  readonly item: Readonly<Record<string, string | undefined>>;
  readonly artifacts: Texts;
  readonly inputs: Texts;
}

const topStep = constantFrom("plan", "fix", "constructor");
const often = record({ loop: constant("fix"), iteration: constantFrom(1, 2, 10) });
const seldom = record({
  loop: constantFrom("fix", "fix-a", "fix_a"),
  iteration: constantFrom(1, 2, 999_999),
});
const loopStep = tuple(
  oneof({ weight: 4, arbitrary: often }, { weight: 1, arbitrary: seldom }),
  constantFrom("plan", "check"),
).map(([{ loop, iteration }, body]) => `${loop}_${String(iteration)}.${body}`);
const step = oneof(topStep, { weight: 2, arbitrary: loopStep });

const text = oneof(
  constantFrom("", "\n", "a\r\n\0b", "\u{feff}€\u{1f600}", "x".repeat(512), "y".repeat(1537)),
  string({ unit: "binary", maxLength: 12 }),
);
// No leaf is a folder that no letter tells apart: "42" is always the one, "7" the other.
const leaf = constantFrom("verdict", "high", "x-1", "42", "constructor", "k".repeat(64));
const folder = constantFrom("high", "7", "n", "z".repeat(64));
const key = tuple(
  oneof(
    { weight: 4, arbitrary: array(folder, { maxLength: 1 }) },
    { weight: 1, arbitrary: array(folder, { minLength: 2, maxLength: 5 }) },
  ),
  leaf,
).map(([folders, name]) => [...folders, name].join("."));
const texts: Arbitrary<Texts> = uniqueArray(tuple(key, text), {
  selector: ([name]) => name,
  maxLength: 4,
});

const delivery: Arbitrary<Delivery> = record({
  values: texts,
  ending: constantFrom<Ending>(
    "succeeded",
    "succeeded",
    "failed",
    "terminated",
    "no marker",
    "lost",
    "over a limit",
  ),
  fault: oneof(
    { weight: 8, arbitrary: constant(undefined) },
    {
      weight: 1,
      arbitrary: constantFrom<Fault>(
        "another step's key",
        "another instance",
        "a wrong digest",
        "not UTF-8",
      ),
    },
  ),
});

const stamp: Arbitrary<Stamp> = record({
  what: constant("stamp"),
  run: constantFrom(0, 0, 0, 0, 1),
  step,
  dependsOn: array(step, { maxLength: 4 }),
  jump: constantFrom(undefined, undefined, undefined, 1, 2, -1),
  outputs: uniqueArray(
    record({ key, kind: constantFrom("text", "json", "number", "bool"), required: boolean() }),
    { selector: (output) => output.key, maxLength: 2 },
  ),
  delivery: option(delivery, { freq: 5, nil: undefined }),
  loud: boolean(),
});

const event = oneof(
  { weight: 6, arbitrary: stamp },
  { weight: 1, arbitrary: record({ what: constant("deliver"), which: nat(), delivery }) },
  { weight: 1, arbitrary: record({ what: constant("look"), which: nat() }) },
);

/** A name of an input is at most 255 bytes with what comes before it (WV-2). */
const named = texts.map((all) => all.filter(([name]) => name.length < 200));
const shortText = string({ unit: "binary", maxLength: 8 });
const inputs: Arbitrary<Inputs> = record({
  // Printable, unlike the other inputs.
  template: string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
  item: record(
    { uuid: shortText, title: shortText, label: shortText, flow_state: shortText },
    { requiredKeys: [] },
  ),
  artifacts: named,
  inputs: named,
});

export const scenario: Arbitrary<Scenario> = record({
  inputs: tuple(inputs, inputs),
  events: array(event, { minLength: 1, maxLength: 24, size: "max" }),
  prefix: oneof(constantFrom("", "workflow.", "FIX", "fix_", "fix-a", "plan.v", "nothing"), step),
});

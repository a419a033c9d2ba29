/** What a node is (G-1): `type` says it, else `shape`; a node with neither is an agent, as a box is. */

export const stepKinds = [
  "start",
  "exit",
  "script",
  "agent",
  "probe",
  "conditional",
  "gate",
  "fan-out",
  "fan-in",
] as const;
export type StepKind = (typeof stepKinds)[number];

export const kindByShape: ReadonlyMap<string, StepKind> = new Map([
  ["Mdiamond", "start"],
  ["Msquare", "exit"],
  ["parallelogram", "script"],
  ["box", "agent"],
  ["diamond", "conditional"],
  ["hexagon", "gate"],
  ["component", "fan-out"],
  ["tripleoctagon", "fan-in"],
]);

/** What to use instead of the kinds of step that are not run yet. */
export const insteadOfKind: ReadonlyMap<StepKind, string> = new Map([
  ["agent", "run the agent's own command in a script step: shape=parallelogram with `script`"],
  ["probe", "loop over the folders inside one script step"],
  ["conditional", "routing follows the edge with the highest weight; decide inside a script step"],
  ["gate", "ask before the run, and pass the answer as an input"],
  ["fan-out", "run the branches one after another, as script steps"],
  ["fan-in", "run the branches one after another, as script steps"],
]);

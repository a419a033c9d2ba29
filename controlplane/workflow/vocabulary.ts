/** Attributes that mean something in a workflow file (G-1), by the element that they stand on. */

export type Element = "graph" | "subgraph" | "edge" | "marker" | "script";

/** As the element is called in messages. */
export const elementNames: Readonly<Record<Element, string>> = {
  graph: "the graph",
  subgraph: "a subgraph",
  edge: "an edge",
  marker: "a start or exit node",
  script: "a script step",
};

export const knownAttributes: Readonly<Record<Element, ReadonlySet<string>>> = {
  graph: new Set(["goal", "inputs", "label"]),
  subgraph: new Set(["label"]),
  edge: new Set(["weight", "label"]),
  marker: new Set(["shape", "type", "label"]),
  script: new Set(["shape", "type", "label", "script", "timeout"]),
};

export interface NotBuilt {
  /** What to write instead. */
  readonly instead: string;
  /** The one value that asks for nothing, and so is accepted. */
  readonly harmless?: string;
}

const ownVariables = "write values with `wfvar set` and read them in a later step with `wfvar get`";
const retryInside = "try again inside the script";
const failsRun = "a step that fails ends the run; handle the failure inside the script";

const ofNodes: ReadonlyMap<string, NotBuilt> = new Map<string, NotBuilt>([
  ["prompt", { instead: "run the agent's own command in `script`" }],
  ["outputs", { instead: ownVariables }],
  ["facts", { instead: ownVariables }],
  ["reads", { instead: "read what a step before wrote with `wfvar get STEP.KEY`" }],
  ["probe", { instead: "loop over the folders inside one script" }],
  ["folders", { instead: "loop over the folders inside one script" }],
  ["human.default_choice", { instead: "ask before the run, and pass the answer as an input" }],
  ["image", { instead: "all steps run in the image that the run is started with" }],
  ["agent", { instead: "run the agent's own command in `script`" }],
  ["max_retries", { instead: retryInside, harmless: "0" }],
  ["retry_target", { instead: failsRun }],
  ["goal_gate", { instead: failsRun, harmless: "false" }],
  ["max_visits", { instead: "every step runs once; repeat inside the script", harmless: "1" }],
]);

/**
 * Attributes that the specification has and this version does not run: ignoring them would run another
 * workflow.
 */
export const notBuilt: Readonly<Record<Element, ReadonlyMap<string, NotBuilt>>> = {
  graph: new Map<string, NotBuilt>([
    ["default_max_retries", { instead: retryInside, harmless: "0" }],
    ["retry_target", { instead: failsRun }],
    ["on_failure", { instead: failsRun, harmless: "stop" }],
  ]),
  subgraph: new Map<string, NotBuilt>([
    ["loop", { instead: "repeat inside one script step" }],
    ["max_iterations", { instead: "repeat inside one script step" }],
  ]),
  edge: new Map<string, NotBuilt>([
    [
      "condition",
      { instead: "routing follows the edge with the highest weight; decide inside a script step" },
    ],
    ["loop_restart", { instead: "repeat inside one script step", harmless: "false" }],
  ]),
  marker: ofNodes,
  script: ofNodes,
};

import * as z from "zod";
import * as wire from "../../contract/wire.ts";

/** A type, not an interface: the converter takes any members. */
type Description = {
  /** Names a schema of the document; without one it is described where it is used. */
  readonly id?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  /** Of strings that are checked by a function: what a pattern can say of them. */
  readonly pattern?: string;
  readonly format?: string;
  readonly type?: string;
};

/**
 * What the OpenAPI document says of the wire's schemas beyond what they check. Kept beside them: the sidecar reads
 * with the same schemas, and needs no words.
 */
export const describedSchemas = z.registry<Description>();

const { createRun, runView, stampStep, stampedStep, stepView, variableView, packReceipt } = wire;

const described: readonly (readonly [z.ZodType, Description])[] = [
  [
    wire.runId,
    {
      id: "RunId",
      description: "A run's id; case counts.",
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
      examples: ["demo-1", "20261231-235959-k7m2qx"],
    },
  ],
  [
    wire.stepPath,
    {
      id: "StepPath",
      description: "A step's path; in any case, answered in lowercase.",
      pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}(\\.[A-Za-z][A-Za-z0-9_-]{0,63})?$",
      examples: ["judge", "review-loop_2.judge"],
    },
  ],
  [
    wire.key,
    {
      id: "Key",
      description: "A key of up to eight segments; in any case, answered in lowercase.",
      pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\\.[A-Za-z0-9][A-Za-z0-9_-]{0,63}){0,7}$",
      examples: ["judge.verdict", "workflow.inputs.repo"],
    },
  ],
  [wire.instant, { id: "Instant", description: "With a zone.", format: "date-time" }],
  [wire.sha256, { id: "Sha256", description: "A digest in hex." }],
  [wire.attempt, { id: "Attempt", description: "Counts a step's attempts from 1." }],
  [
    wire.instance,
    {
      id: "Instance",
      description:
        "The pod, by its uid or whatever tells it apart; the first to call has the attempt.",
    },
  ],
  [wire.limits, { id: "Limits", description: "Of one step's values; sizes in bytes (WV-5)." }],
  [
    wire.declaredOutput,
    { id: "DeclaredOutput", description: "An output that a step should write." },
  ],
  [
    wire.problem,
    { id: "Problem", description: "A problem document (RFC 9457). Decide by `code`." },
  ],
  [
    wire.problem.shape.detail,
    { description: "One line for a person; never a value, never a token." },
  ],
  [
    createRun,
    {
      id: "CreateRun",
      examples: [{ run: "demo-1", template: "review", inputs: { repo: "." } }],
    },
  ],
  [createRun.shape.template, { description: "What is run; becomes `workflow.template`." }],
  [createRun.shape.item, { description: "Become `workflow.item.*`." }],
  [createRun.shape.artifacts, { description: "Become `workflow.artifacts.<key>`." }],
  [createRun.shape.inputs, { description: "Become `workflow.inputs.<key>`." }],
  [createRun.shape.limits, { description: "Instead of the control plane's own." }],
  [createRun.shape.missing_output, { description: "What a missing required output does (WV-10)." }],
  [runView, { id: "Run" }],
  [
    stampStep,
    {
      id: "StampStep",
      examples: [{ step: "judge", depends_on: ["inspect"], outputs: [{ key: "verdict" }] }],
    },
  ],
  [stampStep.shape.depends_on, { description: "Steps whose values it sees (WV-9)." }],
  [stampedStep, { id: "StampedStep" }],
  [
    stampedStep.shape.token,
    { description: "Opens the attempt's two calls: for the sidecar alone." },
  ],
  [stampedStep.shape.env, { description: "For the pod's containers; no secret." }],
  [stepView, { id: "Step" }],
  [variableView, { id: "Variable" }],
  [variableView.shape.set_by, { description: "A step path, or `input`." }],
  [packReceipt, { id: "Receipt" }],
];

for (const [schema, description] of described) describedSchemas.add(schema, description);

import { createHash, randomUUID } from "node:crypto";
import { request } from "undici";
import { urlBelow } from "../../contract/base-url.ts";
import { parseJsonObject } from "../../contract/json.ts";
import { stampedStep, type CreateRun, type StampStep } from "../../contract/wire.ts";
import {
  FixtureError,
  nextIteration,
  parseFreshStep,
  type Fixture,
  type Origin,
  type StepKind,
} from "./fixture.ts";

const greeting = "Gr\u00fc\u00dfe,\r\nno line end";
/** Small, so that what goes past them is quick to send. */
const limits = {
  max_value_bytes: 4096,
  max_step_bytes: 16_384,
  max_step_files: 32,
  max_step_entries: 64,
};
const outputs = [
  { key: "verdict", kind: "choice" as const, options: ["approve", "reject"], required: true },
  { key: "note", kind: "text" as const, required: false },
];

export interface OperatorFixtureOptions {
  /** Base of the step calls. */
  readonly stepUrl: URL;
  readonly operatorUrl: URL;
  readonly operatorToken: string;
  readonly allowHttp: boolean;
}

/** A fixture for control planes with this project's operator calls: one run, and all steps in it. */
export function operatorFixture(options: OperatorFixtureOptions): Fixture {
  const run = `conformance-${randomUUID()}`;
  const visible = {
    "workflow.run-id": sha256(run),
    "workflow.template": sha256("conformance"),
    "workflow.inputs.greeting": sha256(greeting),
  };
  let creating: Promise<unknown> | undefined;
  let count = 0;
  return {
    stamp: async (kind, origin) => {
      const inputs = { greeting };
      const wanted: Partial<CreateRun> = { run, template: "conformance", inputs, limits };
      await (creating ??= operate(options, "v1/runs", wanted));
      count += 1;
      const name = `check-${String(count)}`;
      const body = stampRequest(kind, name, origin ?? { step: name });
      const stamped = stampedStep.safeParse(await operate(options, `v1/runs/${run}/steps`, body));
      if (!stamped.success) throw new FixtureError("the operator call gave no stamped step");
      const { step, attempt, token } = stamped.data;
      const url = options.stepUrl.href;
      const answer = { url, run, step, attempt, token, limits, visible, outputs: body.outputs };
      return parseFreshStep(answer, options);
    },
  };
}

/** `name` is a step that the run does not have yet. */
function stampRequest(
  kind: StepKind,
  name: string,
  { step: from }: Pick<Origin, "step">,
): Pick<StampStep, "step" | "depends_on" | "outputs"> {
  const plain = { depends_on: [], outputs: [] };
  const requests: Record<StepKind, Pick<StampStep, "step" | "depends_on" | "outputs">> = {
    step: { ...plain, step: name, outputs },
    next: { ...plain, step: name, depends_on: [from] },
    retry: { ...plain, step: from },
    loop: { ...plain, step: `${name}-loop_1.${name}` },
    iterate: { ...plain, step: nextIteration(from) },
  };
  return requests[kind];
}

async function operate(
  { operatorUrl, operatorToken }: OperatorFixtureOptions,
  path: string,
  body: object,
): Promise<unknown> {
  const answer = await request(urlBelow(operatorUrl, path), {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "no answer";
    throw new FixtureError(`the operator calls cannot be reached: ${code}`, { cause: error });
  });
  const json = parseJsonObject(Buffer.from(await answer.body.arrayBuffer()));
  if (answer.statusCode === 200 || answer.statusCode === 201) return json;
  const code = typeof json?.["code"] === "string" ? ` ${json["code"]}` : "";
  throw new FixtureError(`the operator call was refused: ${String(answer.statusCode)}${code}`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

import { createHash } from "node:crypto";
import { parseKey } from "../../contract/key.ts";
import { workflowFolder } from "../../contract/layout.ts";
import type { Limits } from "../../contract/limits.ts";
import type { OutputKind } from "../../contract/step-file.ts";
import type { CreateRun } from "../../contract/wire.ts";
import { ApiError } from "../api-error.ts";
import type { NewValue } from "../store/store.ts";

/**
 * The run's inputs as variables, frozen at its creation (WV-8). Throws `invalid_request` naming the input
 * that cannot be one.
 */
export function freezeInputs(run: string, request: CreateRun, limits: Limits): NewValue[] {
  const { template, item, artifacts, inputs } = request;
  const fields = {
    uuid: item.uuid,
    title: item.title,
    label: item.label,
    "flow-state": item.flow_state,
  };
  const named: [string, string | undefined][] = [
    ["run-id", run],
    ["template", template],
    ...under("item", fields),
    ...under("artifacts", artifacts),
    ...under("inputs", inputs),
  ];
  const frozen = new Map<string, NewValue>();
  for (const [name, value] of named) {
    if (value === undefined) continue;
    const input = freeze(name, value, limits);
    if (frozen.has(input.key)) {
      throw new ApiError("invalid_request", `${said(name)}: given twice, in different spellings`);
    }
    frozen.set(input.key, input);
  }
  return [...frozen.values()];
}

function under<T>(group: string, members: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(members).map(([name, value]) => [`${group}.${name}`, value]);
}

/** Without a declared kind a value is text. */
export function toValue(key: string, bytes: Buffer, kind: OutputKind = "text"): NewValue {
  return { key, bytes, sha256: createHash("sha256").update(bytes).digest("hex"), kind };
}

function freeze(name: string, value: string, { max_value_bytes }: Limits): NewValue {
  const key = `${workflowFolder}.${name}`;
  const parsed = parseKey(key);
  if ("problem" in parsed)
    throw new ApiError("invalid_request", `${said(name)}: ${parsed.problem}`);
  if (!value.isWellFormed()) {
    throw new ApiError("invalid_request", `${said(name)}: the value is not well-formed Unicode`);
  }
  const bytes = Buffer.from(value);
  if (bytes.length > max_value_bytes) {
    throw new ApiError(
      "invalid_request",
      `${said(name)}: the value has ${String(bytes.length)} bytes; the limit max_value_bytes (--max-value-bytes) is ${String(max_value_bytes)}: shorten the value, or raise the limit`,
    );
  }
  return toValue(parsed.segments.join("."), bytes);
}

/** As every other message names it: the input `repo`, not `inputs.repo`. */
function said(name: string): string {
  return name.startsWith("inputs.") ? `the input \`${name.slice("inputs.".length)}\`` : name;
}

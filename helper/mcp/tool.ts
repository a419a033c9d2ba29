import {
  ToolSchema,
  type CallToolResult,
  type Tool as ToolDefinition,
  type ToolAnnotations,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { VariablesError } from "../variables-error.ts";

/** A tool of the server. Its arguments are checked here: an agent acts on one plain sentence, not on a schema's report. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** Throws VariablesError, `usage` for arguments that it does not take. */
  call(untrusted: unknown): CallToolResult;
}

/** Every argument in `schema` is a text. */
export function tool<S extends z.ZodObject>(
  name: string,
  description: string,
  schema: S,
  annotations: ToolAnnotations,
  run: (input: z.infer<S>) => CallToolResult,
): Tool {
  const inputSchema = ToolSchema.shape.inputSchema.parse(z.toJSONSchema(schema));
  return {
    definition: { name, description, inputSchema, annotations },
    call: (untrusted) => {
      const parsed = schema.safeParse(untrusted);
      if (parsed.success) return run(parsed.data);
      const taken = Object.keys(schema.shape);
      throw new VariablesError("usage", problem(name, taken, parsed.error.issues[0]));
    },
  };
}

function problem(
  name: string,
  taken: readonly string[],
  issue: z.core.$ZodIssue | undefined,
): string {
  if (issue?.code !== "unrecognized_keys" && issue?.path.length === 1) {
    const argument = String(issue.path[0]);
    const hint = argument === "value" ? ": JSON goes in as a string" : "";
    return `${name} needs ${argument}, a text${hint}`;
  }
  return taken.length === 0
    ? `${name} takes no arguments: leave them out`
    : `${name} takes ${taken.join(" and ")} alone: leave the rest out`;
}

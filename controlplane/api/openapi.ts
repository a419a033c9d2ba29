import swagger, { type SwaggerTransform } from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
} from "fastify-type-provider-zod";
import * as z from "zod";
import type { ApiCode } from "../../contract/codes.ts";
import { isJsonObject } from "../../contract/json.ts";
import { problem } from "../../contract/wire.ts";
import { version } from "../../contract/version.ts";
import { statusOf } from "../api-error.ts";
import { describedSchemas } from "./described-schemas.ts";
import { nameSchemas, openApiDocument, type OpenApi } from "./name-schemas.ts";

declare module "fastify" {
  interface FastifySchema {
    readonly servers?: typeof stepListener;
  }
  interface FastifyContextConfig {
    /** What the call refuses with, beside what any may. */
    readonly problems?: readonly ApiCode[];
    /** Headers of the answer 200, and what they hold. */
    readonly answerHeaders?: Readonly<Record<string, string>>;
  }
}

/** Of every call: a fault, or the control plane stops. */
export const anyProblems = ["internal_error", "unavailable"] as const satisfies readonly ApiCode[];

const stepListener = [listenerAt(8411, "The step listener")];

/** Spread into a call's schema: who makes it, where, with what token. */
export const stepCall = { tags: ["step"], security: [{ stepToken: [] }], servers: stepListener };
export const operatorCall = { tags: ["operator"], security: [{ operatorToken: [] }] };
export const openCall = { tags: ["process"], security: [] };

/** Describes the calls that are added to the server in plugins after this (API page, OpenAPI). */
export function describeCalls(server: FastifyInstance): void {
  void server.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "wfvar control plane",
        version,
        description:
          "Made from the schemas that validate. Answers may gain members: ignore those you do not know.",
        license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      },
      servers: [listenerAt(8410, "The operator listener")],
      tags: [
        { name: "operator", description: "Runs, their steps, variables and events" },
        { name: "step", description: "What a step's pod calls" },
        { name: "process", description: "The control plane's own state" },
      ],
      components: {
        securitySchemes: {
          operatorToken: { type: "http", scheme: "bearer", description: "From the token file" },
          stepToken: { type: "http", scheme: "bearer", description: "Of the step's stamp" },
        },
      },
    },
    hideUntagged: true,
    convertConstToEnum: false,
    transform: describeCall,
    transformObject: createJsonSchemaTransformObject(conversion),
  });
}

/** One document of the calls of two servers; what they have in common is the first one's. */
export function openApiOf(first: FastifyInstance, second: FastifyInstance): OpenApi {
  const document = openApiDocument.parse(first.swagger());
  const { paths } = openApiDocument.parse(second.swagger());
  return nameSchemas({ ...document, paths: { ...document.paths, ...paths } });
}

const conversion: NonNullable<Parameters<typeof createJsonSchemaTransform>[0]> = {
  schemaRegistry: describedSchemas,
  zodToJsonConfig: {
    // Answers may gain members; requests alone are strict.
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodObject && zodSchema.def.catchall === undefined) {
        delete jsonSchema.additionalProperties;
      }
    },
  },
};

const convert = createJsonSchemaTransform(conversion);

/** Adds what nothing validates with: words for the answers, their headers, and problems. */
const describeCall: SwaggerTransform = (call) => {
  const { problems = [], answerHeaders } = call.route.config ?? {};
  const response: Record<string, unknown> = problemsOf([...problems, ...anyProblems]);
  for (const [status, answer] of Object.entries(call.schema?.response ?? {})) {
    response[status] = answer instanceof z.ZodObject ? answerOf(status, answer) : answer;
  }
  const { schema, url } = convert({ ...call, schema: { ...call.schema, response } });
  return { url, schema: { ...schema, response: addHeaders(schema.response, answerHeaders) } };
};

/** The converter passes on none. */
function addHeaders(response: unknown, answerHeaders: Readonly<Record<string, string>> = {}) {
  const headers = Object.entries(answerHeaders).map(([name, description]) => {
    return [name, { type: "string", description }] as const;
  });
  if (headers.length === 0 || !isJsonObject(response) || !isJsonObject(response["200"])) {
    return response;
  }
  return { ...response, 200: { ...response["200"], headers: Object.fromEntries(headers) } };
}

function answerOf(status: string, schema: z.ZodType): object {
  const description = status === "201" ? "Made by this call" : "As asked";
  return { description, content: { "application/json": { schema } } };
}

/** A problem document per status, each with the codes that the call has for it. */
function problemsOf(codes: readonly ApiCode[]): Record<string, object> {
  const byStatus = Object.groupBy(codes, (code) => String(statusOf[code]));
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, of = []]) => {
      const schema = z.intersection(problem, z.object({ code: z.enum(of) }));
      const description = of.map((code) => `\`${code}\``).join(", ");
      return [status, { description, content: { "application/problem+json": { schema } } }];
    }),
  );
}

function listenerAt(port: number, description: string) {
  const variables = { host: { default: "127.0.0.1" } };
  return { url: `http://{host}:${String(port)}`, description, variables };
}

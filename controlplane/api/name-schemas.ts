import { isDeepStrictEqual } from "node:util";
import * as z from "zod";

const named = z.record(z.string(), z.unknown());

/** What is looked at of an OpenAPI document. */
export const openApiDocument = z.looseObject({
  openapi: z.string(),
  paths: named,
  components: z.looseObject({ schemas: named }),
});
export type OpenApi = z.infer<typeof openApiDocument>;

const reference = /"#\/components\/schemas\/(\w+?)(Input)?"/g;

/**
 * The converter makes two schemas of each, `Run` for answers and `RunInput` for requests, whether or not anything
 * refers to them. Keeps those that something refers to, under the plain name. Throws where that would mean two things.
 */
export function nameSchemas(document: OpenApi): OpenApi {
  const { openapi, paths, components, ...about } = document;
  const kept = new Map<string, unknown>();
  const visit = (part: unknown): void => {
    for (const [, name = "", input = ""] of JSON.stringify(part).matchAll(reference)) {
      const schema = components.schemas[name + input];
      const plain = withPlainNames(schema);
      if (!kept.has(name)) {
        kept.set(name, plain);
        visit(schema);
      } else if (!isDeepStrictEqual(kept.get(name), plain)) {
        throw new Error(`the schema ${name} is one thing in requests and another in answers`);
      }
    }
  };
  visit(paths);
  const schemas = Object.fromEntries([...kept].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const plainPaths = named.parse(withPlainNames(paths));
  return { openapi, ...about, paths: plainPaths, components: { ...components, schemas } };
}

function withPlainNames(part: unknown): unknown {
  return JSON.parse(JSON.stringify(part).replaceAll(reference, '"#/components/schemas/$1"'));
}

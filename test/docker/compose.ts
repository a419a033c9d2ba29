import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** `docker/compose.yaml` as far as the tests look at it. */
export interface Compose {
  readonly services: Readonly<Record<"control-plane" | "postgres", Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export interface Service {
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly secrets: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
}

export const composeText = readFileSync("docker/compose.yaml", "utf8");
export const compose = parse(composeText) as Compose;

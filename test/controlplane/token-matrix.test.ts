import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { destination, pino } from "pino";
import { expect, it } from "vitest";
import { problem } from "../../contract/wire.ts";
import { startControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { credentialsFor, type Credential, type CredentialName } from "../support/credentials.ts";
import { dumpDatabase } from "../support/dump-database.ts";
import { contentDigestOf, makePack } from "../support/packs.ts";
import { tempFolder } from "../support/temp-folder.ts";

const subject = { run: "mine", step: "judge", attempt: 2 };

type ListenerName = "step" | "operator";

interface Row {
  readonly listener: ListenerName;
  readonly call: string;
  /** What every credential gets: the status, and the code where it is a problem. */
  readonly rest: string;
  /** What some get instead. */
  readonly but: Partial<Record<CredentialName, string>>;
  /** JSON of the request. */
  readonly body?: object;
  /** What the rightful caller gets when the database has gone. */
  readonly broken: string;
}

const forbidden = {
  "any step": "403 forbidden",
  "another step's": "403 forbidden",
  "another run's": "403 forbidden",
  "an older attempt's": "403 forbidden",
  "a newer attempt's": "403 forbidden",
  "the step's, from another pod": "409 stale_instance",
};
const refused = { rest: "401 unauthorized", broken: "500 internal_error" };
const opensToStep = { listener: "step", ...refused } as const;
const opensToOperator = {
  listener: "operator",
  ...refused,
  but: { "the operator's": "200", "the operator's, spelled otherwise": "200" },
} as const;
const opensToAll = { listener: "operator", rest: "200", but: {} } as const;

const rows: readonly Row[] = [
  {
    ...opensToStep,
    call: "GET /v1/runs/:run/steps/:step/variables",
    but: { ...forbidden, "the step's": "200", "the step's, spelled otherwise": "200" },
  },
  {
    ...opensToStep,
    call: "PUT /v1/runs/:run/steps/:step/pack",
    but: { ...forbidden, "the step's": "201", "the step's, spelled otherwise": "200" },
  },
  { ...opensToAll, call: "GET /healthz", broken: "200" },
  { ...opensToAll, call: "GET /readyz", broken: "503 unavailable" },
  { ...opensToAll, call: "GET /metrics", broken: "200" },
  { ...opensToAll, call: "GET /openapi.json", broken: "200" },
  {
    ...opensToOperator,
    call: "POST /v1/runs",
    body: { template: "another" },
    but: { "the operator's": "201", "the operator's, spelled otherwise": "201" },
  },
  { ...opensToOperator, call: "GET /v1/runs" },
  { ...opensToOperator, call: "GET /v1/runs/:run" },
  {
    ...opensToOperator,
    call: "POST /v1/runs/:run/steps",
    body: { step: "judge", depends_on: ["other"] },
    but: { "the operator's": "201", "the operator's, spelled otherwise": "201" },
  },
  { ...opensToOperator, call: "GET /v1/runs/:run/steps" },
  { ...opensToOperator, call: "GET /v1/runs/:run/variables" },
  { ...opensToOperator, call: "GET /v1/runs/:run/variables/:key" },
  { ...opensToOperator, call: "GET /v1/runs/:run/events" },
];

it("has a row for every call of both listeners", async () => {
  const listeners: string[][] = [];
  const note = (message: unknown) => {
    const calls: string[] = [];
    listeners.push(calls);
    (message as { fastify: FastifyInstance }).fastify.addHook("onRoute", ({ method, url }) => {
      calls.push(...[method].flat().map((each) => `${each} ${url}`));
    });
  };
  subscribe("fastify.initialization", note);
  await startControlPlane();
  unsubscribe("fastify.initialization", note);
  expect(listeners).toEqual([callsOf("step"), callsOf("operator")]);
});

it.each(rows)("$call opens to its rightful caller alone", async (row) => {
  const stage = await makeStage();
  const answers = await answersTo(stage, row, row.listener);
  expect(answers).toEqual({ ...answersOf(stage, row.rest), ...row.but });
  expect(stage.log()).not.toContain("request_failed");
});

it.each(rows)("$call is unknown to the other listener, whoever asks", async (row) => {
  const stage = await makeStage();
  const other = row.listener === "step" ? "operator" : "step";
  expect(await answersTo(stage, row, other)).toEqual(answersOf(stage, "404 not_found"));
});

it.each(rows)("$call shows no token where the database has gone", async (row) => {
  const stage = await makeStage();
  await stage.cp.breakStore();
  const rightful = row.listener === "step" ? "the step's" : "the operator's";
  const { answer, shown } = await ask(stage, row, row.listener, stage.credentials[rightful]);
  expect(answer).toBe(row.broken);
  // The log's own words for a fault are there to be looked through.
  expect(stage.log().includes("request_failed")).toBe(answer === "500 internal_error");
  expectNoSecret(stage, shown + stage.log());
});

it.each<ListenerName>(["step", "operator"])(
  "the %s listener does not repeat a URL that it cannot read",
  async (listener) => {
    const stage = await makeStage();
    const { query } = stage.credentials["the token in the URL"];
    const url = listener === "step" ? stage.cp.stepUrl : stage.cp.operatorUrl;
    for (const part of ["%zz", "x".repeat(2000)]) {
      const response = await fetch(`${url}/v1/runs/${part}/steps/judge/variables?${query}`);
      const text = await response.text();
      expect(problem.parse(JSON.parse(text)).code).toBe("invalid_request");
      expect(text).not.toContain(part);
      expectNoSecret(stage, text + stage.log());
    }
  },
);

it("logs the packs that it takes, which shows that the log is read here", async () => {
  const stage = await makeStage();
  const [, put] = rows;
  if (put === undefined) throw new Error("unreachable");
  await ask(stage, put, "step", stage.credentials["the step's"]);
  expect(stage.log()).toContain("pack_accepted");
});

type Credentials = Awaited<ReturnType<typeof credentialsFor>>;

interface Stage {
  readonly cp: TestControlPlane;
  readonly credentials: Credentials;
  /** What was logged so far. */
  readonly log: () => string;
  /** Every row of every table. */
  readonly stored: () => string;
  readonly secrets: readonly string[];
}

/** Two runs whose ids differ in case alone, and attempts of two steps in them that nobody has claimed yet. */
async function makeStage(): Promise<Stage> {
  const logFile = join(tempFolder(), "log");
  const log = pino({ level: "trace" }, destination({ dest: logFile, sync: true }));
  const cp = await startControlPlane({}, log);
  for (const run of [subject.run, subject.run.toUpperCase()])
    await cp.createRun({ run, template: "test" });
  const credentials = await credentialsFor(cp, subject, async ({ run, step, attempt }) => {
    return (await cp.stamp(run, { step, attempt })).token;
  });
  const secrets = Object.values<Credential>(credentials).flatMap(secretsOf);
  return {
    cp,
    credentials,
    log: () => readFileSync(logFile, "utf8"),
    stored: () => dumpDatabase(join(cp.dataDir, "wfvar.db")),
    secrets,
  };
}

/** Asks with each credential in turn; what is refused must store nothing and show no secret. */
async function answersTo(
  stage: Stage,
  row: Row,
  listener: ListenerName,
): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const [name, credential] of Object.entries<Credential>(stage.credentials)) {
    const before = stage.stored();
    const { answer, shown } = await ask(stage, row, listener, credential);
    answers[name] = answer;
    if (answer === "201") expect(stage.stored(), `stored by ${name}`).not.toBe(before);
    if (answer.startsWith("2")) continue;
    expect(stage.stored(), `stored by ${name}`).toBe(before);
    expectNoSecret(stage, shown);
  }
  expectNoSecret(stage, stage.log());
  return answers;
}

/** Makes the call with this credential and with all else in order. */
async function ask(
  { cp }: Stage,
  { call, body }: Row,
  listener: ListenerName,
  { headers, query = "" }: Credential,
): Promise<{ answer: string; shown: string }> {
  const [method = "", route = ""] = call.split(" ");
  const path = route
    .replace(":run", subject.run)
    .replace(":step", subject.step)
    .replace(":key", "workflow.run-id");
  const identity = { "wfvar-instance": "pod-1", ...headers };
  const sent =
    method === "PUT"
      ? await packOf(identity["wfvar-instance"])
      : body && { type: "application/json", bytes: Buffer.from(JSON.stringify(body)) };
  const url = listener === "step" ? cp.stepUrl : cp.operatorUrl;
  const response = await fetch(`${url}${path}?attempt=${String(subject.attempt)}&${query}`, {
    method,
    headers: {
      ...identity,
      ...(sent && { "content-type": sent.type, "content-digest": contentDigestOf(sent.bytes) }),
    },
    ...(sent && { body: new Uint8Array(sent.bytes) }),
  });
  const text = await textOf(response);
  const shown = JSON.stringify([...response.headers]) + text;
  if (response.ok) return { answer: String(response.status), shown };
  expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  const { status, code } = problem.parse(JSON.parse(text));
  expect(status).toBe(response.status);
  return { answer: `${String(status)} ${code}`, shown };
}

/** Of events, which do not end, the first of them. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get("content-type") !== "text/event-stream") return response.text();
  for await (const chunk of response.body ?? []) return Buffer.from(chunk).toString();
  return "";
}

async function packOf(instance: string): Promise<{ type: string; bytes: Buffer }> {
  const values = { "judge.verdict": "approve" };
  return { type: "application/x-tar", bytes: await makePack({ ...subject, instance, values }) };
}

function callsOf(listener: ListenerName): string[] {
  return rows.filter((row) => row.listener === listener).map(({ call }) => call);
}

function answersOf({ credentials }: Stage, answer: string): Record<string, string> {
  return Object.fromEntries(Object.keys(credentials).map((name) => [name, answer]));
}

/** Every token in a credential, and each part of it that could not stand anywhere by chance. */
function secretsOf({ headers, query = "" }: Credential): string[] {
  const words = [headers["authorization"] ?? "", query].join(" ").split(/[^\w.-]+/);
  return words.flatMap((word) => [word, ...word.split(".")]).filter(({ length }) => length >= 20);
}

function expectNoSecret({ secrets }: Stage, text: string): void {
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
}

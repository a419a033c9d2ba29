import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { extract, type Header } from "tar-stream";
import { describe, expect, it } from "vitest";
import { compareKeys } from "../../../contract/key.ts";
import { parseStepPath } from "../../../contract/ids.ts";
import { maxPrefillBytes, maxPrefillEntries } from "../../../contract/limits.ts";
import { formatContentDigest } from "../../../contract/tar-feed.ts";
import { PrefillWriter } from "../../../sidecar/prefill-writer.ts";
import { unpackPrefill } from "../../../sidecar/unpack-prefill.ts";
import { startControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { makePack, putPack } from "../../support/packs.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { withRoot } from "../../support/with-root.ts";
import { callPython } from "./call-python.ts";

interface Facts {
  readonly call: { run: string; step: string; attempt: number; instance: string };
  readonly limits?: object;
  readonly outputs?: readonly object[];
  readonly steps?: readonly string[];
  /** Full key to text. */
  readonly values?: Readonly<Record<string, string>>;
}

/** The tar and its headers, as `build_prefill` makes them. */
function buildInPython(facts: Facts): { body: Buffer; headers: Record<string, string> } {
  const made = callPython(BUILD, facts) as { body: string; headers: Record<string, string> };
  return { body: Buffer.from(made.body, "base64"), headers: made.headers };
}

const BUILD = `
import base64
chunks, headers = kit.build_prefill(
    kit.StepCall(**given["call"]),
    kit.Limits(**given.get("limits", {})),
    [kit.Output(**output) for output in given.get("outputs", [])],
    given.get("steps", []),
    {key: value.encode() for key, value in given.get("values", {}).items()},
)
result = {"body": base64.b64encode(b"".join(chunks)).decode(), "headers": headers}`;

/** Entries by name, without the two that differ: their order, and a slash behind a long folder. */
async function entriesOf(body: Buffer): Promise<Map<string, unknown>> {
  const entries = new Map<string, unknown>();
  const tar = extract();
  tar.end(body);
  for await (const entry of tar) {
    const { name, type, size, mode, uid, gid, mtime }: Header = entry.header;
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    const content = Buffer.concat(chunks).toString("base64");
    entries.set(name.replace(/\/$/, ""), { type, size, mode, uid, gid, mtime, content });
  }
  return new Map([...entries].toSorted(([a], [b]) => compareKeys(a, b)));
}

async function prefillOf(cp: TestControlPlane, run: string, step: string, token: string) {
  const answer = await fetch(`${cp.stepUrl}/v1/runs/${run}/steps/${step}/variables?attempt=1`, {
    headers: { authorization: `Bearer ${token}`, "wfvar-instance": "pod-of-reader" },
  });
  return { answer, body: Buffer.from(await answer.arrayBuffer()) };
}

const deepKey = (step: string): string =>
  [step, ...Array.from({ length: 6 }, (_, i) => `${String(i)}${"k".repeat(63)}`)].join(".");

describe("a prefill of wfvar_cp.py (WV-1, WV-9)", () => {
  it("holds what the shipped control plane's holds, entry by entry", async () => {
    const cp = await startControlPlane();
    const values = {
      "inspect.findings": "é\0\r\n",
      "inspect.empty": "",
      "inspect.high.x": "1",
      "inspect.high": "2",
      [deepKey("inspect")]: "deep",
      // Its path is cut behind a slash where it meets the header's hundred bytes.
      [`inspect.${"a".repeat(64)}.${"b".repeat(26)}.c`]: "cut",
    };
    const inputs = { repo: ".", ["n".repeat(64)]: "long", [`a.${"b".repeat(64)}.c`]: "dotted" };
    const run = await cp.createRun({ run: "r-1", template: "t", item: { uuid: "u-1" }, inputs });
    const earlier = await cp.stamp(run, { step: "inspect" });
    const pack = await makePack({ run, step: "inspect", values: sorted(values) });
    const { token } = earlier;
    expect((await putPack(cp.stepUrl, run, "inspect", pack, { token })).status).toBe(201);

    const step = "review-loop_2.judge";
    const outputs = [
      { key: "verdict", kind: "choice", options: ["yes", "no", "\u2028é\u0007"] },
      { key: "why", required: false },
    ];
    const depends_on = ["inspect", "never-ran", "review-loop_2.check"];
    const stamped = await cp.stamp(run, { step, depends_on, outputs });
    const { answer, body } = await prefillOf(cp, run, step, stamped.token);
    expect(answer.status).toBe(200);

    const given = Object.entries(inputs).map(([name, value]) => [`workflow.inputs.${name}`, value]);
    const inPython = buildInPython({
      call: { run, step, attempt: 1, instance: "pod-1" },
      outputs,
      steps: depends_on,
      values: {
        ...values,
        ...Object.fromEntries(given),
        "workflow.run-id": "r-1",
        "workflow.template": "t",
        "workflow.item.uuid": "u-1",
      },
    });
    expect(await entriesOf(inPython.body)).toEqual(await entriesOf(body));
    expect(inPython.headers).toEqual({
      "Content-Type": answer.headers.get("content-type"),
      "Content-Length": String(inPython.body.length),
      "Content-Digest": formatContentDigest(createHash("sha256").update(inPython.body).digest()),
    });
  });

  it("is one that the sidecar unpacks, long names and folders included", async () => {
    const root = tempFolder();
    mkdirSync(join(root, "variables"));
    const loop = `${"l".repeat(56)}_999999.${"s".repeat(64)}`;
    const cut = `plan.${"a".repeat(64)}.${"b".repeat(29)}.c`;
    const values = { [deepKey("plan")]: "deep", [cut]: "cut", [`${loop}.v`]: "loop" };
    const { body, headers } = buildInPython({
      call: { run: "r-1", step: "judge", attempt: 1, instance: "pod-1" },
      steps: ["plan", "empty", loop],
      values: { ...values, [`workflow.${"i".repeat(64)}.${"j".repeat(64)}`]: "input" },
    });
    const own = parseStepPath("judge");
    if (own === undefined) throw new Error("unreachable");
    await withRoot(join(root, "variables"), async (fd) => {
      const writer = new PrefillWriter(fd);
      const answer = { headers: lowercased(headers), body: asStream(body) };
      await unpackPrefill(answer, own, writer);
      writer.close(["judge"]);
    });
    const [longest = ""] = loop.split(".");
    const read = (...path: string[]): string =>
      readFileSync(join(root, "variables", ...path), "utf8");
    expect(read("plan", "a".repeat(64), "b".repeat(29), "C")).toBe("cut");
    expect(read(...deepKey("plan").split(".").slice(0, -1), `5${"K".repeat(63)}`)).toBe("deep");
    expect(read(longest, "s".repeat(64), "V")).toBe("loop");
    expect(read("workflow", `${"i".repeat(64)}.${"j".repeat(64)}`)).toBe("input");
    expect(readdirSync(join(root, "variables", "empty"))).toEqual([]);
    expect(statSync(join(root, "variables", "plan")).mode & 0o777).toBe(0o555);
    expect(JSON.parse(read(".step"))).toMatchObject({ run: "r-1", step: "judge", attempt: 1 });
  });

  it("leaves out the step itself, however it is spelled", async () => {
    const call = { run: "r-1", step: "judge", attempt: 1, instance: "pod-1" };
    const { body } = buildInPython({ call, steps: ["Judge", "Plan"] });
    expect([...(await entriesOf(body)).keys()]).toEqual([".step", "plan", "workflow"]);
  });

  it("escapes half a surrogate pair of an option as JSON does", async () => {
    const call = { run: "r-1", step: "judge", attempt: 1, instance: "pod-1" };
    const outputs = [{ key: "v", kind: "choice", options: ["\ud800"] }];
    const { content } = (await entriesOf(buildInPython({ call, outputs }).body)).get(".step") as {
      content: string;
    };
    const text = Buffer.from(content, "base64").toString();
    expect(JSON.parse(text)).toMatchObject({ outputs: [{ options: ["\ud800"] }] });
  });

  it("raises ValueError for what cannot be there", () => {
    const wrong: [what: string, values: Record<string, string>][] = [
      ["a key of a step that is not visible", { "other.v": "1" }],
      ["a key of the own folder", { "judge.v": "1" }],
      ["an uppercase key", { "plan.V": "1" }],
      ["a step without a leaf", { plan: "1" }],
      ["a key of nine segments", { "plan.2.3.4.5.6.7.8.9": "1" }],
      ["a way up", { "plan.../x": "1" }],
      ["a key that ends in a newline", { "plan.v\n": "1" }],
      ["an input's name over 255 bytes", { [`workflow${`.${"n".repeat(64)}`.repeat(4)}`]: "1" }],
      ["a file and a folder of one spelling", { "plan.1": "1", "plan.1.x": "1" }],
      ["a value that is no UTF-8", { "plan.v": "\udcff" }],
    ];
    const script = `
def build(values):
    values = {key: value.encode("utf-8", "surrogateescape") for key, value in values.items()}
    try:
        kit.build_prefill(kit.StepCall("r-1", "judge", 1, "pod-1"), kit.Limits(), [], ["plan"], values)
        return "built"
    except ValueError as error:
        return str(error)
result = [build(values) for values in given]`;
    const problems = callPython(
      script,
      wrong.map(([, values]) => values),
    );
    const refused = expect.stringMatching(/: (not |a file)/);
    expect(problems).toEqual(wrong.map(() => refused));
  });

  it("raises ValueError for what is no step path", () => {
    const script = `
try:
    kit.build_prefill(kit.StepCall("r-1", "judge", 1, "pod-1"), kit.Limits(), [], ["../x"], {})
except ValueError as error:
    result = str(error)`;
    expect(callPython(script)).toMatch(/^steps: must be/);
  });

  it("refuses to be larger than a sidecar takes, and is built at the limit itself", () => {
    const script = `
call = kit.StepCall("r-1", "judge", 1, "pod-1")
def build(values):
    try:
        chunks, headers = kit.build_prefill(call, kit.Limits(), [], ["plan"], values)
        return sum(map(len, chunks)) == int(headers["Content-Length"])
    except kit.Refusal as refusal:
        return refusal.problem()
empty, _ = kit.build_prefill(call, kit.Limits(), [], [], {})
step_file = max(empty, key=lambda chunk: chunk.count(b"limits"))
room = kit.MAX_PREFILL_BYTES - len(step_file)
files = {"plan.v{}".format(i): b"" for i in range(kit.MAX_PREFILL_ENTRIES - 3)}
result = [build({"plan.v": bytes(room)}), build({"plan.v": bytes(room + 1)})]
result += [build(files), build({**files, "plan.w": b""})]
result += [kit.MAX_PREFILL_BYTES, kit.MAX_PREFILL_ENTRIES]`;
    const refused = expect.objectContaining({ code: "too_large", status: 413 });
    expect(callPython(script)).toEqual(
      [true, refused, true, refused].concat(maxPrefillBytes, maxPrefillEntries),
    );
  });
});

function sorted(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).toSorted(([a], [b]) => compareKeys(a, b)));
}

function lowercased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

async function* asStream(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
}

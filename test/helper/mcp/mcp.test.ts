import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { formatBrief } from "../../../helper/brief.ts";
import { withStep } from "../../../helper/step.ts";
import { version } from "../../../contract/version.ts";
import { variablesFolder, type VariablesFolder } from "../variables-folder.ts";
import { runWfvar, wfvarKit } from "../wfvar-bundle.ts";

const kit = wfvarKit(["mcp"]);
afterAll(() => {
  kit[Symbol.dispose]();
});

interface Answer {
  readonly texts: readonly string[];
  readonly refused: boolean;
}

/** Starts the server through the launcher, as an agent does: with next to nothing in the environment. */
async function connect(root: string): Promise<Client> {
  writeFileSync(join(root, ".self"), join(root, "judge"));
  const client = new Client({ name: "test", version: "1" });
  const env = { WORKFLOW_VARIABLES_ROOT: root };
  const transport = new StdioClientTransport({ command: kit.launcher, args: ["mcp"], env });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

async function call(
  client: Client,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const result = await client.callTool({ name, arguments: { ...input } });
  const content = result.content as readonly { type: string; text: string }[];
  return { texts: content.map(({ text }) => text), refused: result.isError === true };
}

describe("wfvar mcp (WV-14)", () => {
  it("says what it is, with the brief as its instructions, and offers five tools", async () => {
    using folder = variablesFolder("judge", ["plan/SUMMARY=1"]);
    const client = await connect(folder.root);
    expect(client.getServerVersion()).toMatchObject({ name: "wfvar", version });
    expect(client.getInstructions()).toBe(withStep(folder.env, formatBrief));
    const { tools } = await client.listTools();
    expect(tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []])).toEqual([
      ["get_variable", ["key"]],
      ["set_variable", ["key", "value"]],
      ["list_variables", []],
      ["unset_variable", ["key"]],
      ["check", []],
    ]);
    expect(
      tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name),
    ).toEqual(["get_variable", "list_variables", "check"]);
  });

  it.each([
    ["text that shells mangle", "a!\\n$HOME `x` \"'\n"],
    ["CRLF and no newline at the end", "a\r\nb"],
    ["NUL and control characters", "a\0\u001b[1m"],
    ["a byte order mark", "\uFEFFx"],
    ["four-byte UTF-8", "🦀"],
    ["empty", ""],
    ["16 KiB", "x".repeat(16_384)],
  ])("stores and gives back exactly: %s", async (_name, value) => {
    using folder = variablesFolder();
    const client = await connect(folder.root);
    const size = Buffer.byteLength(value);
    expect(await call(client, "set_variable", { key: "Report", value })).toEqual({
      texts: [`judge.report: ${String(size)} bytes`],
      refused: false,
    });
    expect(readFileSync(join(folder.self, "REPORT"), "utf8")).toBe(value);
    expect(await call(client, "get_variable", { key: "judge.report" })).toEqual({
      texts: [value],
      refused: false,
    });
  });

  it("gives the head of a value over 16 KiB, cut between characters, and the path of the rest", async () => {
    const value = `x${"é".repeat(20_000)}`;
    using folder = variablesFolder("judge", [`plan/Summary=${value}`]);
    const client = await connect(folder.root);
    const { texts } = await call(client, "get_variable", { key: "plan.summary" });
    expect(texts).toHaveLength(2);
    expect(texts[0]).toBe(value.slice(0, 1 + 8191));
    expect(texts[1]).toContain("the first 16383 of 40001 bytes");
    const [, path = ""] = /is the file (.+?):/.exec(texts[1] ?? "") ?? [];
    expect(readFileSync(path, "utf8")).toBe(value);
  });

  it.each([
    ["get_variable", { name: "x" }, "get_variable needs key, a text"],
    ["get_variable", { key: 5 }, "get_variable needs key, a text"],
    ["get_variable", { key: "k", prefix: "x" }, "get_variable takes key alone: leave the rest out"],
    ["set_variable", { key: "k" }, "set_variable needs value, a text: JSON goes in as a string"],
    [
      "set_variable",
      { key: "k", value: { a: 1 } },
      "set_variable needs value, a text: JSON goes in as a string",
    ],
    [
      "set_variable",
      { key: "k", value: "v", mode: "x" },
      "set_variable takes key and value alone: leave the rest out",
    ],
    ["list_variables", { prefix: 5 }, "list_variables needs prefix, a text"],
    ["check", { json: true }, "check takes no arguments: leave them out"],
    ["no_such", {}, "there is no such tool: list the tools"],
  ])("refuses %s with %j in one sentence, and stores nothing", async (name, input, sentence) => {
    using folder = variablesFolder("judge");
    const client = await connect(folder.root);
    expect(await call(client, name, input)).toEqual({
      texts: [`usage: ${sentence}`],
      refused: true,
    });
    expect(readdirSync(folder.self)).toEqual([]);
  });

  it("takes a value of the limit made of what JSON spells longest, and refuses one more byte", async () => {
    using folder = variablesFolder();
    const client = await connect(folder.root);
    const value = "\u0001".repeat(1024 ** 2);
    expect(await call(client, "set_variable", { key: "k", value })).toMatchObject({
      refused: false,
    });
    expect(readFileSync(join(folder.self, "K"), "utf8")).toBe(value);
    expect(await call(client, "set_variable", { key: "l", value: `${value}x` })).toEqual({
      texts: [
        "value_too_large: the value of judge.l has 1048577 bytes; the limit is 1048576: shorten it or split it over several keys",
      ],
      refused: true,
    });
    expect(folder.ownTree()).toEqual(["K"]);
  });

  it("lists, narrows, and says how many more there are", async () => {
    using folder = variablesFolder("judge", ["judge/VERDICT=s3cret", "plan/SUMMARY=1"]);
    const client = await connect(folder.root);
    const list = async (input = {}) => (await call(client, "list_variables", input)).texts;
    expect(await list()).toEqual(["plan.summary: 1 byte\nverdict: 6 bytes"]);
    expect(await list({ prefix: "plan." })).toEqual(["plan.summary: 1 byte"]);
    expect(await list({ prefix: "none" })).toEqual(["no variables"]);
    for (let n = 0; n < 510; n += 1) writeFileSync(join(folder.root, "plan", `K${String(n)}`), "");
    expect((await list())[0]?.split("\n").at(-1)).toBe("and 12 more: give a prefix");
  });

  it("unsets, and checks as the command does", async () => {
    using folder = variablesFolder("judge", ["judge/A=1", "judge/report.md=1"]);
    const client = await connect(folder.root);
    const [report = ""] = (await call(client, "check")).texts;
    expect(report).toContain("accepted judge.a: 1 byte\nrejected report.md: invalid_output_key: ");
    expect(await call(client, "unset_variable", { key: "A" })).toEqual({
      texts: ["judge.a: removed"],
      refused: false,
    });
    expect(folder.ownTree()).toEqual(["report.md"]);
  });

  it("warns that a key looks like a file's name", async () => {
    using folder = variablesFolder();
    const client = await connect(folder.root);
    const { texts } = await call(client, "set_variable", { key: "report.md", value: "x" });
    expect(texts[1]).toBe(
      "warning: judge.report.md is a file in a folder, since a dot makes a folder: if report was meant, drop the extension (unset_variable judge.report.md)",
    );
  });

  it.each([
    ["get_variable", { key: "verdcit" }, "not_found: ", "did you mean verdict?"],
    ["get_variable", { key: "report.md" }, "not_found: ", "did you mean report?"],
    ["get_variable", { key: "zzz" }, "not_found: ", "list the keys"],
    ["get_variable", { key: "a/b" }, "invalid_key: ", "dots, not slashes: a.b"],
    ["get_variable", { key: "link" }, "unsafe_path: ", "put a plain file there"],
    ["set_variable", { key: "plan.x", value: "s3cret" }, "outside_own_step: ", "write judge.<key>"],
    ["set_variable", { key: "a", value: "\uD83E" }, "invalid_value: ", "cut in the middle"],
    ["unset_variable", { key: "verdcit" }, "not_found: ", "did you mean verdict?"],
    ["unset_variable", { key: "workflow.x" }, "outside_own_step: ", "write judge.<key>"],
    ["set_variable", { key: "a", text: "s3cret" }, "", "value"],
    ["set_variable", { key: "a", value: 7_411 }, "", "value"],
    ["get_variable", {}, "", "key"],
  ])("%s of %j is refused with %s and says what to do next", async (name, input, code, advice) => {
    using folder = variablesFolder("judge", ["judge/VERDICT=1", "judge/REPORT=1", "plan/X=1"]);
    folder.add("judge/link -> VERDICT");
    const client = await connect(folder.root);
    const before = folder.ownTree();
    const { texts, refused } = await call(client, name, input);
    expect(refused).toBe(true);
    expect(texts).toHaveLength(1);
    expect(texts[0]?.startsWith(code)).toBe(true);
    expect(texts[0]).toContain(advice);
    expect(texts[0]).not.toMatch(/s3cret|7411/);
    expect(folder.ownTree()).toEqual(before);
  });

  it("serves where there is no step, and says so in its instructions and to every call", async () => {
    using folder: VariablesFolder = variablesFolder();
    const client = await connect(join(folder.root, "judge"));
    expect(client.getInstructions()).toMatch(/^The variables .+ cannot be read: no_variables: /);
    for (const [name, input] of [
      ["get_variable", { key: "a" }],
      ["set_variable", { key: "a", value: "" }],
      ["list_variables", {}],
      ["unset_variable", { key: "a" }],
      ["check", {}],
    ] as const) {
      const { texts, refused } = await call(client, name, input);
      expect([name, refused, texts[0]?.startsWith("no_variables: ")]).toEqual([name, true, true]);
    }
  });
});

describe("the process of wfvar mcp", () => {
  it("ends with 0 when the client closes stdin, and says nothing but the protocol", () => {
    using folder = variablesFolder();
    const { status, stdout, stderr } = runWfvar(kit, ["mcp"], { env: folder.env, input: "" });
    expect([status, stdout.toString(), stderr.toString()]).toEqual([0, "", ""]);
  });

  it("quotes nothing of what it cannot read, and goes on", async () => {
    using folder = variablesFolder();
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      },
    };
    const input = `s3cret\n{"s3cret":1}\n${JSON.stringify(initialize)}\n`;
    const { status, stdout, stderr } = runWfvar(kit, ["mcp"], { env: folder.env, input });
    expect(status).toBe(0);
    expect(JSON.parse(stdout.toString())).toMatchObject({ id: 1, result: { serverInfo: {} } });
    expect(stderr.toString()).toMatch(/^(wfvar: io_error: a message [^\n]+\n){2}$/);
    expect(stderr.toString()).not.toContain("s3cret");
  });

  it("ends when the client has gone without closing stdin", async () => {
    using folder = variablesFolder();
    const child = spawn(process.execPath, [kit.bundle, "mcp"], { env: folder.env });
    child.stdout.destroy();
    const ended = once(child, "exit");
    const ping = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`;
    child.stdin.on("error", () => undefined);
    const timer = setInterval(() => child.stdin.write(ping), 20);
    expect(await ended).toEqual([0, null]);
    clearInterval(timer);
  });

  it.each([
    [["mcp", "--help"], 0],
    [["mcp", "now"], 2],
    [["mcp", "--port"], 2],
  ])("%j exits with %i and serves nothing", (argv, status) => {
    const { status: exit, stdout } = spawnSync(process.execPath, [kit.bundle, ...argv]);
    expect(exit).toBe(status);
    if (status === 0) expect(stdout.toString()).toMatch(/^Usage: wfvar mcp\n/);
  });
});

import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { stdin, stdout } from "node:process";
import { defaultLimits } from "../../contract/limits.ts";
import type { Command, CommandIo } from "../command.ts";
import { createServer } from "../mcp/server.ts";
import { runCommand } from "../run-command.ts";
import { withStep, type Env } from "../step.ts";
import type { LateCommand } from "./late-command.ts";

/** `wfvar mcp`: the step's variables as an agent's tools, until the client closes stdin (WV-14). */
export const run: LateCommand["run"] = (argv, io) => runCommand("mcp", mcp, argv, io);

/** One byte of a value is six of JSON at most: `\u0000`. */
const maxJsonBytesPerByte = 6;
const messageOverheadBytes = 64 * 1024;
/** Values somewhat past the limit still get an answer that says so. */
const minMessageBytes = 10 * 1024 ** 2;

const mcp: Command = {
  help: `Usage: wfvar mcp

Serves the Model Context Protocol on stdin and stdout, for an agent that starts it as a tool server: get_variable, set_variable,
list_variables, unset_variable, check. What \`wfvar brief\` prints are its instructions. Needs nothing in its environment: the
step is found at /variables.

  claude mcp add wfvar -- wfvar mcp
  codex mcp add wfvar -- wfvar mcp
`,
  syntax: { flags: {}, minWords: 0, maxWords: 0 },
  run(_words, io) {
    serve(io);
    return 0;
  },
};

function serve(io: CommandIo): void {
  const server = createServer(io.env);
  const complain = (what: string): void => {
    io.writeError(`wfvar: io_error: ${what}`);
  };
  // An error of the protocol may quote what the client sent, values included.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's only way
  server.onerror = () => {
    complain("a message of the MCP client could not be read or answered");
  };
  // The client has gone without closing stdin.
  stdout.on("error", () => {
    void server.close();
  });
  const options = { maxBufferSize: maxMessageBytes(io.env) };
  server.connect(new StdioServerTransport(stdin, stdout, options)).catch(() => {
    complain("the MCP server could not start");
  });
}

function maxMessageBytes(env: Env): number {
  const limit = valueLimit(env) * maxJsonBytesPerByte + messageOverheadBytes;
  return Math.max(limit, minMessageBytes);
}

function valueLimit(env: Env): number {
  try {
    return withStep(env, ({ limits }) => limits.max_value_bytes);
  } catch {
    // The tools will say what is wrong.
    return defaultLimits.max_value_bytes;
  }
}
